// Each run has three memory files: what it reads, the cubin, and what it prints.
#include "driver/assemble.hpp"

#include "driver/files.hpp"

#include <algorithm>
#include <thread>

namespace ptxasw::driver {
namespace {

constexpr unsigned most_at_once = 8;

struct Run {
  MemoryFile source, cubin, messages;
};

} // namespace

std::vector<std::optional<Assembled>> assemble_all(const std::string& ptxas,
                                                   const Environment& environment,
                                                   const std::vector<std::string>& texts,
                                                   const Arguments& arguments, int& interrupted) {
  std::vector<std::optional<Assembled>> results(texts.size());
  std::vector<Run> runs;
  std::vector<Command> commands;
  for (const std::string& text : texts) {
    auto source = MemoryFile::create(text, true), cubin = MemoryFile::create({}, true),
         messages = MemoryFile::create();
    if (!source || !cubin || !messages) return results;
    runs.push_back({std::move(*source), std::move(*cubin), std::move(*messages)});
    const Run& run = runs.back();
    commands.push_back({.program = ptxas,
                        .arguments = arguments(run.source.path(), run.cubin.path()),
                        .output = run.messages.descriptor(),
                        .error = run.messages.descriptor()});
  }
  const unsigned at_once = std::clamp(std::thread::hardware_concurrency(), 1U, most_at_once);
  const std::vector<Ended> ended = run_all(std::move(commands), environment, at_once);
  for (std::size_t n = 0; n < ended.size(); ++n) {
    interrupted = std::max(interrupted, ended[n].interrupted);
    if (ended[n].ok()) results[n] = Assembled{runs[n].cubin.content(), runs[n].messages.content()};
  }
  return results;
}

} // namespace ptxasw::driver
