// What the user asked of the launcher: words of PTXASW_LAUNCH, separated by commas, as the
// sub-command `ptxasw launch` writes them.
//
//   off                  every launch goes through as it came
//   policy=measure       try all variants, and blocks of other shapes, for one per cent of the time
//                        (trials.hpp), then keep the fastest (the default)
//   policy=model         the variant of which the model predicts the shortest time
//   policy=NAME          the variant of this name wherever there is one: "original", "x:4", ...
//   report[=FILE]        at exit, a table of kernels and launches: text, or JSON for FILE.json
//   profile=FILE         at exit, what was measured, for a build (src/profile/profile.hpp); in the
//                        name %p is the number of the process
//   check[=N]            every launch (or every N-th): run all variants on the same memory, compare
//   steps[=MICROSECONDS] launches that are time steps of a stencil may become fewer (MERGING.md);
//                        none waits longer than that for the next one (100)
//   early                launches may begin before the one in front has ended (front.hpp)
//   batch                sequences that repeat may go out as one graph (batch.hpp)
//   no-images            images are loaded as they are: those of the store are not used (IMAGES.md)
//   log                  say on standard error what is found and refused
#pragma once

#include "target/numbers.hpp"

#include <string>
#include <string_view>

namespace ptxasw::launch {

enum class Policy { model, measure, named };

struct Settings {
  bool off = false;
  Policy policy = Policy::measure;
  std::string name; // of Policy::named
  bool report = false;
  std::string report_file; // empty: standard error
  std::string profile;     // a file; empty: none
  // Somebody wants to know how often and how long.
  [[nodiscard]] bool watches_times() const { return report || !profile.empty(); }
  unsigned check = 0; // every so many launches; 0: none
  bool steps = false;
  unsigned longest_wait = 100; // of a launch that is put off, microseconds
  // Runs of a few steps are not tried both ways within so many microseconds behind the first one.
  unsigned tries_behind = numbers::launch::tries_behind;
  bool early = false, batch = false;
  bool images = true;
  bool log = false;
  std::string complaint; // a word that is none of these; it is ignored
};

Settings read_settings(std::string_view words);

} // namespace ptxasw::launch
