// Are two versions of a kernel the same? Runs both on the same memory over many launch shapes,
// argument values, pointer aliasings and schedules, and compares every byte.
//
// A launch whose original does something undefined, or whose result depends on the schedule, says
// nothing and is left out; how many are is part of the answer.
#pragma once

#include "simt/machine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::simt {

struct VerifyOptions {
  std::uint64_t seed = 1;
  unsigned launches = 64;             // argument sets tried; every shape comes up in turn
  std::vector<Dim3> grids, blocks;    // empty: a list of usual and unusual ones
  std::vector<std::string> arguments; // texts of args.hpp; "?" or missing: made up
  Dim3 divide{1};                     // the second version's grid is so many times smaller
  bool alias = true;                  // also let pointers share buffers
  unsigned schedules = 2;             // of each kind that is random
  bool across_trips = false;          // of the independent ones: see Schedule
  unsigned threads = 0;               // of the host; 0: as many as there are cores
  std::uint64_t budget = std::uint64_t{1} << 24;
  bool defined_only = false; // leave out launches in which undefined values matter
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
  std::string left_out_reason; // of the first one
  Counts left, right;          // in lockstep, summed over the launches that are equal
  std::optional<VerifyFailure> failure;
  [[nodiscard]] bool ok() const { return error.empty() && !failure && equal != 0; }
};

VerifyResult verify(const std::shared_ptr<const ptx::Module>& left,
                    const std::shared_ptr<const ptx::Module>& right, std::string_view kernel,
                    const VerifyOptions& options = {});

// The answer for people, in a few lines.
std::string text_of(const VerifyResult& result, std::string_view kernel);

} // namespace ptxasw::simt
