// The driver with an optimizer that does what the input's comments say, so that each way a call can
// go is tested without depending on what the real optimizer finds:
//
//   //@change     adds an unused register to every kernel
//   //@break      writes PTX that ptxas does not take
//   //@keep NAME  (with //@change) changes every kernel but this one
//   //@crash //@overflow //@abort //@hang //@throw //@allocate
//   //@try       asks ptxas about the text as it is, twice at a time
//   //@after-try, //@after-keep: the faults come there instead of at the start
#include "driver/drop_in.hpp"
#include "oracle/register_guard.hpp"
#include "ptx/parse.hpp"
#include "ptx/written.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace {

using ptxasw::KernelReport;
using ptxasw::Optimized;
using ptxasw::oracle::Printed;

int overflow(const volatile int* above) {
  volatile int here = *above;
  return here == 1 ? 0 : overflow(&here) + here;
}

bool states_block_size(const std::string& text, std::string_view kernel) {
  const ptxasw::ptx::Module module = ptxasw::ptx::parse(text);
  const ptxasw::ptx::Function* function = ptxasw::ptx::find_kernel(module, kernel);
  return function != nullptr && (function->maxntid[0] | function->reqntid[0]) != 0;
}

void use_all_memory() {
  std::vector<std::unique_ptr<char[]>> all;
  for (;;)
    all.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{1} << 26));
}

void misbehave(std::string_view text) {
  const auto says = [&](std::string_view what) {
    return text.find(what) != std::string_view::npos;
  };
  if (says("//@crash")) std::raise(SIGSEGV);
  if (says("//@abort")) std::abort();
  if (says("//@allocate")) use_all_memory();
  if (says("//@throw")) throw std::runtime_error("as asked");
  const int bottom = 0;
  if (says("//@overflow")) std::exit(overflow(&bottom));
  if (says("//@hang"))
    for (volatile int spin = 1; spin != 0;)
      spin = 1;
}

Printed rewrite(std::string text, const std::string& file,
                const std::vector<ptxasw::Reverted>& reverted) {
  Printed printed;
  Optimized& result = printed.made;
  result.report.file = file;
  const bool wanted = text.find("//@change") != std::string::npos;
  const bool broken = text.find("//@break") != std::string::npos;
  for (std::size_t at = 0; (at = text.find(".entry ", at)) != std::string::npos;) {
    at += 7;
    KernelReport kernel;
    kernel.name = text.substr(at, text.find_first_of("( \n", at) - at);
    const std::size_t body = text.find('{', at);
    if (body == std::string::npos) break;
    const bool kept =
        std::ranges::find(reverted, kernel.name, &ptxasw::Reverted::kernel) != reverted.end() ||
        text.find("//@keep " + kernel.name) != std::string::npos;
    if ((wanted || broken) && !kept) {
      text.insert(body + 1, broken ? "\nbogus;" : "\n// rewritten\n.reg .b32 %stub;");
      kernel.changed = result.changed = true;
      printed.changed.push_back({kernel.name, {}});
    }
    result.report.kernels.push_back(kernel);
  }
  result.text = std::move(text);
  return printed;
}

Optimized optimize(const std::string& text, const std::string& file, const ptxasw::Options&,
                   ptxasw::Assembler* assembler) {
  const bool late = text.find("//@after-") != std::string::npos;
  if (!late) misbehave(text);
  if (text.find("//@try") != std::string::npos) {
    const std::vector<ptxasw::AssemblyRequest> requests(2, {.text = text});
    assembler->assemble(requests);
  }
  if (text.find("//@after-try") != std::string::npos) misbehave(text);
  ptxasw::oracle::Committed settled = ptxasw::oracle::commit_rewrites(
      rewrite(text, file, {}), text, *assembler,
      [&](std::string_view kernel) {
        return ptxasw::passes::Launches{states_block_size(text, kernel), {}};
      },
      [&](const std::vector<ptxasw::Reverted>& back) { return rewrite(text, file, back); });
  settled.printed.made.report.reverted = std::move(settled.reverted);
  if (text.find("//@after-keep") != std::string::npos) misbehave(text);
  return std::move(settled.printed.made);
}

} // namespace

int main(int argc, char** argv) {
  using namespace ptxasw::driver;
  constexpr std::array<std::string_view, 2> commands{"opt", "report"};
  const std::vector<std::string> words(argv, argv + argc);
  const Environment environment = Environment::current();
  const Invocation call = read_invocation(words, commands, environment);
  if (call.mode == Invocation::Mode::drop_in)
    return drop_in(call, {"0.0", optimize, std::chrono::seconds(1), std::size_t{1} << 30},
                   environment);
  std::cout << (call.mode == Invocation::Mode::help ? "help" : "sub-command " + call.command)
            << '\n';
}
