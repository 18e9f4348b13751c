// The launches that a thread remembers, and what is put in their place.
#include "launch/kernels/passing_variant.hpp"

#include "launch/driver/driver.hpp"
#include "launch/kernels/passing.hpp"
#include "launch/kernels/shapes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_parameters = 32; // with the one behind them

struct alignas(64) PassingVariant {
  PassingLaunch known;
  CUcontext context = nullptr;
  CUfunction function = nullptr;
  Dims grid{}, block{};
  unsigned parameters = 0, bytes = 0;
  alignas(8) std::array<std::byte, sizeof(contract::OriginalShape)> value{}; // of the last one
};

PassingVariant& slot_of(const LaunchKey& key) {
  [[gnu::tls_model("initial-exec")]] static constinit thread_local std::array<PassingVariant, 8>
      launches{};
  return launches[slot_number(key) % launches.size()];
}

bool is_current(CUcontext context) {
  CUcontext current = nullptr;
  return driver().ctx_get_current != nullptr &&
         driver().ctx_get_current(&current) == CUDA_SUCCESS && current == context;
}

} // namespace

void remember_variant(std::uint64_t epoch, unsigned hook, const Request& asked,
                      const VariantLaunch& made, CUcontext context, std::uint64_t times) {
  if (asked.extra != nullptr || made.own_parameters() >= most_parameters) return;
  const LaunchKey key = launch_key(hook, asked);
  PassingVariant& slot = slot_of(key);
  slot.known = passing_launch(epoch, nullptr, key, times);
  slot.context = context;
  slot.function = made.request().function;
  slot.grid = made.request().grid;
  slot.block = made.request().block;
  slot.parameters = made.own_parameters();
  slot.bytes = static_cast<unsigned>(made.appended().size());
  std::ranges::copy(made.appended(), slot.value.begin());
}

std::optional<CUresult> pass_by_variant(unsigned hook, const Request& asked, const Launch& launch) {
  const LaunchKey key = launch_key(hook, asked);
  PassingVariant& slot = slot_of(key);
  if (words_differ(slot.known, key) != 0 || slot.known.left == 0 || asked.extra != nullptr ||
      !is_current(slot.context) || is_capturing(asked.stream))
    return std::nullopt;
  --slot.known.left;
  Request made = asked;
  made.function = slot.function;
  made.grid = slot.grid;
  made.block = slot.block;
  std::array<void*, most_parameters> all; // NOLINT(*-member-init): as many as there are
  if (slot.bytes != 0) {
    std::copy_n(asked.parameters, slot.parameters, all.data());
    all[slot.parameters] = slot.value.data();
    made.parameters = all.data();
  }
  const CUresult result = launch(made);
  if (result == CUDA_SUCCESS) return result;
  slot.known.left = 0; // looked at, it is the original if need be
  return std::nullopt;
}

std::uint64_t take_passed_by_variant(unsigned hook, const Request& asked) {
  const LaunchKey key = launch_key(hook, asked);
  return take_passed(slot_of(key).known, key);
}

} // namespace ptxasw::launch
