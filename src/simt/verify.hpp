// Are two versions of a kernel the same? Runs both on the same memory over many launch shapes,
// argument values, pointer aliasings and schedules, and compares every byte.
//
// Agreement says something only where the two had a chance to disagree. So "equal" asks for all of:
//   - every access that the versions do not have in common was executed, in a launch that counts:
//     loads of the first version and shuffles of the second by a full warp, where one can get
//     there;
//   - so was every store and atomic of the first version;
//   - most launches could be compared. A launch whose original does something undefined, or whose
//     result depends on the schedule, says nothing and is left out; so does one that writes
//     nothing;
//   - nothing differed in a launch that was left out for a data race, if a program may launch so.
// Otherwise the answer is "not shown". A data race that only the second version has is a
// difference, whatever comes out.
#pragma once

#include "simt/machine.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::simt {

struct LaunchShape {
  Dim3 grid, block;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

// How to get a thread to an instruction of a kernel's body.
struct Quest {
  const Program* program = nullptr;
  ptx::InstId inst = 0;
  bool full_warp = false;                       // all lanes of a warp together
  std::vector<LaunchShape> shapes;              // to try in this order
  bool other_grids = true;                      // where none of them will do
  std::vector<std::uint64_t> pointers;          // parameters that are addresses, by place
  std::map<std::uint64_t, std::uint64_t> known; // others that are settled, by place
};
// A launch in which a thread gets there, as far as can be told.
struct ReachingLaunch {
  LaunchShape shape;
  std::map<std::uint64_t, std::uint64_t> values; // of integer parameters, by place
};
struct ReachingLaunches {
  std::vector<ReachingLaunch> ways;
  bool impossible = false; // proven: no thread gets there, whatever the other parameters are
};
using FindReachingLaunches = std::function<ReachingLaunches(const Quest&)>; // see verify/reach.hpp

struct VerifyOptions {
  std::uint64_t seed = 1;
  unsigned launches = 64;             // argument sets tried; every shape comes up in turn
  std::vector<Dim3> grids, blocks;    // empty: a list of usual and unusual ones
  std::vector<std::string> arguments; // texts of args.hpp; "?" or missing: made up
  Dim3 divide{1};                     // the second version's grid is so many times smaller
  bool original_grid = false; // any grid: divided and rounded up, the original one an argument more
  bool rest_by_itself = false; // not rounded up: behind the groups follow the blocks that fill none
  // How the second version is launched instead, and with what argument more. May be empty.
  std::function<LaunchShape(const LaunchShape&, Argument& appended)> other_shape;
  bool alias = true;              // also let pointers share buffers
  unsigned schedules = 2;         // of each kind that is random
  bool across_iterations = false; // of the independent ones: see Schedule
  unsigned threads = 0;           // of the host; 0: as many as there are cores
  std::uint64_t budget = std::uint64_t{1} << 24;
  std::chrono::milliseconds time{0}; // afterwards no further launch begins; 0: all are made
  bool defined_only = false;         // leave out launches in which undefined values matter
  // Told, by any thread, how many launches are made and how many there will be so far; may be
  // empty.
  std::function<void(std::uint64_t made, std::uint64_t of)> watch;
  FindReachingLaunches find_paths; // for places that the launches above do not reach; may be empty
};

struct VerifyLaunch {
  Dim3 grid, block;
  std::vector<std::string> arguments;
  std::uint32_t dynamic_shared = 16384;
  [[nodiscard]] std::string command(std::string_view kernel) const; // for `ptxasw run`
};

struct VerifyFailure {
  VerifyLaunch launch;
  Schedule schedule;
  std::string what;   // the message of a launch that failed, or the first differing byte
  std::string buffer; // in which that byte is
  std::string left_store, right_store; // who wrote it; empty: nobody
};

struct VerifyResult {
  std::string error; // the kernels cannot be compared at all
  unsigned equal = 0, left_out = 0;
  unsigned idle = 0;           // equal, but nothing was written
  unsigned races = 0;          // left out for a data race of the program's, with a difference
  std::string left_out_reason; // of the first one
  std::string race_reason;     // likewise
  Counts left, right;          // in lockstep, summed over the launches that are equal
  std::optional<VerifyFailure> failure;
  unsigned goals = 0;       // places that had to be reached
  unsigned outside = 0;     // of them, those that only other launches than the given ones reach
  bool out_of_time = false; // not all launches were made
  std::vector<std::string> missing; // those that were not, and what else is, for people
  // No difference was seen.
  [[nodiscard]] bool ok() const { return error.empty() && !failure && equal + idle != 0; }
  // And there was a chance to see one.
  [[nodiscard]] bool shown() const;
};

VerifyResult verify(const std::shared_ptr<const ptx::Module>& left,
                    const std::shared_ptr<const ptx::Module>& right, std::string_view kernel,
                    const VerifyOptions& options = {});

// The answer for people, in a few lines.
std::string text_of(const VerifyResult& result, std::string_view kernel);

} // namespace ptxasw::simt
