// A sequence of launches as one graph of the driver's: a chain of kernel nodes. Its executable is
// kept, and of its nodes those get other parameters whose launches have other ones.
//
// Where two entries that wait are behind one another, the edge is programmatic: the second may
// begin before the first has ended.
//
// What it costs: one graph is built and instantiated (some microseconds for each node), then a call
// for each node whose parameters changed and one for all of them: measured, 1.8 microseconds a
// kernel instead of 4.8, in chains of 64 that the host bounds.
#pragma once

#include "launch/driver/driver.hpp"
#include "launch/driver/request.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ptxasw::launch {

struct Kernel;

// A launch that can be a node: all but its stream.
struct GraphLaunch {
  CUfunction function = nullptr; // of the context, no CUkernel
  Dims grid{}, block{};
  unsigned shared = 0;
  bool waits = false; // an entry that may begin before the one in front has ended (front.hpp)
  std::uint64_t identity = 0;       // of the kernel, from run to run
  std::vector<unsigned char> bytes; // the parameters, and where each of them is
  std::vector<void*> parameters;
  // Of a stage of a sequence (passes.hpp): what the program asked for. The first parameters are
  // its own, whichever entry this is of.
  const Kernel* stage = nullptr;
  Dims stage_grid{}, stage_block{};

  [[nodiscard]] bool same_kernel(const GraphLaunch& other) const {
    return function == other.function && grid == other.grid && block == other.block &&
           shared == other.shared;
  }
  [[nodiscard]] GraphLaunch without_parameters() const;
};

// What they are, from run to run: kernels, how many blocks of each, and whose entries may do them.
// Not 0. The program waits for it.
[[nodiscard]] std::uint64_t hash_of(std::span<const GraphLaunch> launches);

// In the context of the thread. Any step that fails leaves nothing launched.
class KeptGraph {
public:
  KeptGraph() = default;
  KeptGraph(const KeptGraph&) = delete;
  KeptGraph& operator=(const KeptGraph&) = delete;
  ~KeptGraph() { forget(); }

  // Whether this driver has all that is needed.
  static bool is_possible();
  // The same kernels each time; their parameters may be others.
  CUresult launch(std::span<const GraphLaunch> launches, CUstream stream);
  [[nodiscard]] bool is_built() const { return executable_ != nullptr; }
  // The driver's part of it goes with its context, not with us.
  void forget();

private:
  CUresult build(std::span<const GraphLaunch> launches, bool early);
  CUresult set(std::span<const GraphLaunch> launches);

  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
  std::vector<CUgraphNode> nodes_;
  std::vector<std::vector<unsigned char>> set_; // the parameters that each has
};

} // namespace ptxasw::launch
