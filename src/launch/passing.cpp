// A small table in each thread's own memory, a line of the cache for each entry.
#include "launch/passing.hpp"

#include <array>
#include <functional>

namespace ptxasw::launch {
namespace {

struct alignas(64) Passing {
  std::uint64_t epoch = 0;
  CUfunction function = nullptr;
  Dims grid{}, block{};
  unsigned shared = 0;
};

// A preloaded library has room for them from the start, and they need no code to be made.
constexpr std::size_t slots = 16;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<Passing, slots> passing{};

Passing& slot_of(const Request& request) {
  const std::size_t hash = std::hash<const void*>()(request.function) / 16 + request.grid[0] * 31U +
                           request.grid[1] * 7U + request.grid[2] + request.block[0] / 32U;
  return passing[hash % slots];
}

} // namespace

bool is_passing(const Request& request, std::uint64_t epoch) {
  const Passing& known = slot_of(request);
  return known.epoch == epoch && known.function == request.function && known.grid == request.grid &&
         known.block == request.block && known.shared == request.shared;
}

void remember_passing(const Request& request, std::uint64_t epoch) {
  slot_of(request) = {epoch, request.function, request.grid, request.block, request.shared};
}

} // namespace ptxasw::launch
