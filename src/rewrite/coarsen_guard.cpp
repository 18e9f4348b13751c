// Blocks are counted in 32 bits (a grid of 2^32 of them runs for a second at least), threads in 64.
// Where the kernel states its block size, blocks are all there is to count.
#include "rewrite/coarsen_guard.hpp"

#include <algorithm>
#include <limits>

namespace ptxasw::rewrite {

using ptx::Special;

namespace {

class LaunchSize {
public:
  LaunchSize(const ptx::Body& body, Registers& registers, Text& text)
      : body_(body), registers_(registers), text_(text) {}

  std::string smaller_than(std::uint64_t least) {
    const std::string small = registers_.make("pred");
    const std::string blocks = product("%nctaid", Special::nctaid_x, Special::ctaid_x);
    std::string threads;
    if (body_.function->reqntid[0] != 0) {
      const std::uint64_t block = stated_threads();
      least = (least + block - 1) / block;
    } else {
      threads = product("%ntid", Special::ntid_x, Special::tid_x);
    }
    if (threads.empty()) {
      constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
      text_.line("setp.lt.u32 \t{}, {}, {};", small, blocks, std::min(least, most));
    } else {
      const std::string all = registers_.make("b64");
      text_.line("mul.wide.u32 \t{}, {}, {};", all, blocks, threads);
      text_.line("setp.lt.u64 \t{}, {}, {};", small, all, least);
    }
    return small;
  }

private:
  [[nodiscard]] std::uint64_t stated_threads() const {
    std::uint64_t threads = 1;
    for (const std::uint32_t size : body_.function->reqntid)
      threads *= std::max(size, 1U);
    return threads;
  }

  // Over the axes along which the kernel reads the size or an index; empty if it reads none.
  std::string product(std::string_view name, Special size, Special index) {
    std::string result;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!ptx::reads_special(body_, ptx::along(size, axis)) &&
          !ptx::reads_special(body_, ptx::along(index, axis)))
        continue;
      const std::string factor = registers_.make("b32");
      text_.line("mov.u32 \t{}, {}.{};", factor, name, "xyz"[axis]);
      if (result.empty()) {
        result = factor;
        continue;
      }
      const std::string both = registers_.make("b32");
      text_.line("mul.lo.u32 \t{}, {}, {};", both, result, factor);
      result = both;
    }
    return result;
  }

  const ptx::Body& body_;
  Registers& registers_;
  Text& text_;
};

} // namespace

std::string small_launch(const ptx::Body& body, std::uint64_t least, Registers& registers,
                         Text& text) {
  return least == 0 ? std::string() : LaunchSize(body, registers, text).smaller_than(least);
}

} // namespace ptxasw::rewrite
