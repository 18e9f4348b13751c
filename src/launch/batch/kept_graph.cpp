// Builds the chain once, and sets what changed.
#include "launch/batch/kept_graph.hpp"

#include "contract/sequences.hpp"
#include "launch/kernels/kernels.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

CUDA_KERNEL_NODE_PARAMS node_of(const GraphLaunch& launch) {
  CUDA_KERNEL_NODE_PARAMS node{};
  node.func = launch.function;
  node.gridDimX = launch.grid[0];
  node.gridDimY = launch.grid[1];
  node.gridDimZ = launch.grid[2];
  node.blockDimX = launch.block[0];
  node.blockDimY = launch.block[1];
  node.blockDimZ = launch.block[2];
  node.sharedMemBytes = launch.shared;
  node.kernelParams = const_cast<void**>(launch.parameters.data()); // only read
  return node;
}

} // namespace

std::uint64_t hash_of(std::span<const GraphLaunch> launches) {
  std::uint64_t all = contract::version;
  const auto add = [&all](std::uint64_t word) {
    all = (all ^ word) * 0x9e3779b97f4a7c15 + (all >> 29);
  };
  for (const GraphLaunch& one : launches) {
    for (const Dims& dims : {one.grid, one.block})
      for (const unsigned n : dims)
        add(n);
    add(one.identity);
    if (one.stage == nullptr) continue;
    for (const contract::Sequence& sequence : one.stage->contract.sequences)
      add(sequence.count);
  }
  return std::max<std::uint64_t>(all, 1);
}

GraphLaunch GraphLaunch::without_parameters() const {
  GraphLaunch made;
  made.function = function;
  made.grid = grid;
  made.block = block;
  made.shared = shared;
  made.waits = waits;
  made.identity = identity;
  made.stage = stage;
  made.stage_grid = stage_grid;
  made.stage_block = stage_block;
  return made;
}

bool KeptGraph::is_possible() {
  const Driver& d = driver();
  return d.graph_create && d.graph_destroy && d.graph_add_kernel && d.graph_instantiate &&
         d.graph_exec_destroy && d.graph_exec_set_kernel && d.graph_launch;
}

CUresult KeptGraph::build(std::span<const GraphLaunch> launches, bool early) {
  const Driver& d = driver();
  CUresult result = d.graph_create(&graph_, 0);
  for (std::size_t n = 0; n < launches.size() && result == CUDA_SUCCESS; ++n) {
    const CUDA_KERNEL_NODE_PARAMS node = node_of(launches[n]);
    const bool is_early = early && n != 0 && launches[n - 1].waits && launches[n].waits;
    const bool is_behind = n != 0 && !is_early; // as usual
    CUgraphNode made = nullptr;
    result = d.graph_add_kernel(&made, graph_, is_behind ? &nodes_.back() : nullptr,
                                is_behind ? 1 : 0, &node);
    if (result == CUDA_SUCCESS && is_early) {
      CUgraphEdgeData edge{};
      edge.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
      edge.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      result = d.graph_add_dependencies(graph_, &nodes_.back(), &made, &edge, 1);
    }
    nodes_.push_back(made);
    set_.push_back(launches[n].bytes);
  }
  if (result == CUDA_SUCCESS) result = d.graph_instantiate(&executable_, graph_, 0);
  if (result == CUDA_SUCCESS) return result;
  if (graph_ != nullptr) d.graph_destroy(graph_);
  forget();
  return result;
}

CUresult KeptGraph::set(std::span<const GraphLaunch> launches) {
  for (std::size_t n = 0; n < launches.size(); ++n) {
    if (set_[n] == launches[n].bytes) continue;
    const CUDA_KERNEL_NODE_PARAMS node = node_of(launches[n]);
    const CUresult result = driver().graph_exec_set_kernel(executable_, nodes_[n], &node);
    if (result != CUDA_SUCCESS) return result;
    set_[n] = launches[n].bytes;
  }
  return CUDA_SUCCESS;
}

CUresult KeptGraph::launch(std::span<const GraphLaunch> launches, CUstream stream) {
  const Relaxed relaxed; // another thread may be capturing
  CUresult result = CUDA_SUCCESS;
  if (executable_ == nullptr) {
    result = driver().graph_add_dependencies == nullptr ? CUDA_ERROR_NOT_SUPPORTED
                                                        : build(launches, true);
    if (result != CUDA_SUCCESS) result = build(launches, false);
    if (result != CUDA_SUCCESS) return result;
  }
  result = set(launches);
  return result == CUDA_SUCCESS ? driver().graph_launch(executable_, stream) : result;
}

void KeptGraph::forget() {
  graph_ = nullptr;
  executable_ = nullptr;
  nodes_.clear();
  set_.clear();
}

} // namespace ptxasw::launch
