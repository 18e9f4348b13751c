// Passes through a sequence of several kernels, of launches that wait together (batch.hpp), made by
// entries that do several at a time (contract/sequences.hpp says why memory is as it would have
// been).
//
// Among the launches that wait: wherever a kernel's contract has a sequence and its stages follow,
// two times or more, with the same grids, blocks and parameters each time (but for those of which
// the entry is told each pass's value), these passes are made by
// entries in pairs; what is in front of them, between them and behind is made as it came. The
// first entry of a pair goes from the program's arrays to memory of ours and the second one back,
// so all memory is behind the pair what launches leave.
//
// Whether that gains is told by events, for each sequence of launches by itself: from the begin of
// its launches in the stream to whatever comes behind them, as they come and merged, in turns. What
// is clear is kept for the next run of the program, which times each once to see whether it holds.
//
// All of it calls the driver, so it is done by whoever has the turn (turn.hpp).
#pragma once

#include "contract/sequences.hpp"
#include "launch/batch/kept_graph.hpp"
#include "launch/driver/scratch.hpp"
#include "launch/kernels/kernels.hpp"
#include "launch/kernels/launch_memory.hpp"
#include "launch/kernels/step_times.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::launch {

void make_launch(const GraphLaunch& one, CUstream stream, const Launch& launch);

// What is known of launches that came together again and again.
struct PassPlan {
  // Passes from the launch `begin` on.
  struct Part {
    std::size_t begin = 0;
    unsigned passes = 0;
    const contract::Sequence* sequence = nullptr;
    CUfunction entry = nullptr;
    contract::FittedSequence fitted;
    std::vector<contract::Sequence::Part> free; // that vary, and nothing else hangs on their values
  };
  static constexpr unsigned merged = 0; // beside StepTimes::singly
  enum class Kind : std::uint8_t { not_known, none, some };

  Kind kind = Kind::not_known;   // whether the kernels are passes
  unsigned skip = 0, failed = 0; // times that it is not tried; times in a row that it failed
  // Whether merged ones are faster; expected: they were in an earlier run.
  enum class Gain : std::uint8_t { not_known, expected, yes, no } gain = Gain::not_known;
  std::uint64_t launches = 0; // what they are (hash_of); 0: nobody has asked yet
  StepTimes times;
  // Of launches with certain parameters.
  bool is_current = false; // those that wait have them
  std::vector<Part> parts;
  std::uint64_t own_bytes = 0;
  // Whose memory it is, asked behind so many other calls.
  std::uint64_t asked = 0;
  std::vector<std::uint64_t> known; // addresses of the device's alone
  bool is_private = false;          // all parts'

  // Launch `n` is there again: what is known of it may hold no more.
  void look_at(std::size_t n, const GraphLaunch& now, const GraphLaunch& before);
};

class Passes {
public:
  // Has the entries of a kernel loaded, by another thread.
  using Load = std::function<void(const Kernel&)>;
  // `memory`: whether passes among launches gain.
  Passes(Load load, LaunchMemory memory) : load_(std::move(load)), memory_(std::move(memory)) {}

  // How the launches that come next are to be made: `plan` is that of these. Those that are merged
  // wait; others do not, on account of us. Of neither: as if there were no entries. `young`: only
  // what is known may be merged.
  enum class How : std::uint8_t { neither, as_they_come, merged };
  How how(PassPlan& plan, std::span<const GraphLaunch> launches, bool young);
  // False: it is known that they are never merged.
  [[nodiscard]] static bool may_gain(const PassPlan& plan) {
    return plan.gain != PassPlan::Gain::no && plan.kind != PassPlan::Kind::none;
  }
  // Makes all of them; how many passes were merged. In the context of the launches.
  unsigned make(PassPlan& plan, std::span<const GraphLaunch> launches, CUstream stream,
                const Launch& launch);
  // So many launches of which each follows from some passes: the next one begins one again, and
  // with another one there are more than `most`.
  static bool is_full(std::span<const GraphLaunch> launches, std::size_t most);
  // Something else was asked of the driver.
  void other_call() { ++other_calls_; }

  // Passes that were merged, and by how many launches.
  [[nodiscard]] std::uint64_t merged() const { return merged_; }
  [[nodiscard]] std::uint64_t entries() const { return entries_; }

private:
  PassPlan::Kind find_kernels(std::span<const GraphLaunch> launches);
  void recall(PassPlan& plan, std::span<const GraphLaunch> launches) const;
  void compare_times(PassPlan& plan, std::span<const GraphLaunch> launches) const;
  std::string fit(PassPlan& plan, std::span<const GraphLaunch> launches);
  std::string why_not_private(PassPlan& plan) const;
  unsigned make_part(const PassPlan::Part& part, std::span<const GraphLaunch> launches,
                     std::uint64_t own, bool is_behind_entry, CUstream stream,
                     const Launch& launch);
  static void fail(PassPlan& plan, const std::string& why);

  const Load load_;
  const LaunchMemory memory_;
  ScratchBuffers scratch_;
  std::uint64_t other_calls_ = 1;
  std::atomic<std::uint64_t> merged_{0}, entries_{0};
};

} // namespace ptxasw::launch
