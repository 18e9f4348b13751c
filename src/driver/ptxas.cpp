// Each run has three memory files: what it reads, the cubin, and what it prints.
#include "driver/ptxas.hpp"

#include "driver/files.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <initializer_list>
#include <thread>

namespace ptxasw::driver {
namespace {

constexpr unsigned most_at_once = 8;

// Times what the original takes, and so many seconds.
struct Share {
  double times, seconds;
  [[nodiscard]] double of(double own) const { return times * own + seconds; }
};
// One that is to be kept has come so far that it is worth it: its like was tried before. How much
// is tried others limit, by what is the same on all machines (passes/coarsen/search/search.hpp);
// this is a net for what ptxas takes far too long for.
constexpr Share one_text{12, 2}, one_trial{8, 1}, all_trials{10, 3};

struct Run {
  MemoryFile source, cubin, messages;
};

// "ptxas FILE, line 7; error   : Unknown symbol 'x'" without the file, which is one of ours.
std::string first_complaint(std::string_view messages) {
  for (const std::string_view word : {"error", "fatal"}) {
    const std::size_t at = messages.find(word);
    const std::size_t colon = at == messages.npos ? at : messages.find(": ", at);
    if (colon == messages.npos) continue;
    const std::string_view rest = messages.substr(colon + 2);
    return std::string(rest.substr(0, rest.find('\n')));
  }
  return "";
}

bool gives(const std::vector<std::string>& options, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(options, [&](std::string_view option) {
    return std::ranges::count(names, option.substr(0, option.find('='))) != 0;
  });
}

// What Patience says, for the requests of one call.
class Patiently : public Limits {
public:
  Patiently(std::span<const AssemblyRequest> requests, Patience& patience)
      : requests_(requests), patience_(patience) {}
  [[nodiscard]] unsigned of(std::size_t n) const override { return patience_.with(requests_[n]); }
  void has_ended(std::size_t n, const Ended& how, double seconds) override {
    patience_.took(requests_[n], seconds, how.ok());
    if (patience_.watch) patience_.watch(++ended_, requests_.size());
  }

private:
  std::span<const AssemblyRequest> requests_;
  Patience& patience_;
  std::size_t ended_ = 0;
};

} // namespace

unsigned Patience::with(const AssemblyRequest& request) const {
  using Purpose = AssemblyRequest::Purpose;
  if (own_.empty() || request.purpose == Purpose::original) return Limits::none;
  double own = 0;
  for (const auto& [entries, seconds] : own_)
    own += seconds;
  double most = one_text.of(own * longer(request));
  if (request.purpose == Purpose::trial) {
    const double left = all_trials.of(own * (texts_ + longer(request))) - trials_;
    if (left <= 0) return 0;
    most = std::min(one_trial.of(own * longer(request)), left);
  }
  return static_cast<unsigned>(std::ceil(most));
}

// How many times the original's text.
double Patience::longer(const AssemblyRequest& request) const {
  return std::max(1.0, static_cast<double>(request.text.size()) / static_cast<double>(bytes_));
}

void Patience::took(const AssemblyRequest& request, double seconds, bool well) {
  using Purpose = AssemblyRequest::Purpose;
  if (request.purpose == Purpose::trial) {
    trials_ += seconds;
    if (bytes_ != 0) texts_ += longer(request);
  }
  if (request.purpose != Purpose::original || !well) return;
  double& own = own_[request.entries];
  own = std::max(own, seconds);
  bytes_ = std::max({bytes_, request.text.size(), std::size_t{1}});
}

std::vector<std::optional<Assembled>> assemble_all(const std::string& ptxas,
                                                   const Environment& environment,
                                                   std::span<const AssemblyRequest> requests,
                                                   const Arguments& arguments, Patience& patience,
                                                   int& interrupted, std::string& refusal) {
  std::vector<std::optional<Assembled>> results(requests.size());
  if (interrupted != 0) return results;
  std::vector<Run> runs;
  std::vector<Command> commands;
  for (const AssemblyRequest& request : requests) {
    auto source = MemoryFile::create(request.text, true), cubin = MemoryFile::create({}, true),
         messages = MemoryFile::create();
    if (!source || !cubin || !messages) return results;
    runs.push_back({std::move(*source), std::move(*cubin), std::move(*messages)});
    const Run& run = runs.back();
    commands.push_back({.program = ptxas,
                        .arguments = arguments(request, run.source.path(), run.cubin.path()),
                        .output = run.messages.descriptor(),
                        .error = run.messages.descriptor()});
  }
  const unsigned at_once = std::clamp(std::thread::hardware_concurrency(), 1U, most_at_once);
  Patiently limits(requests, patience);
  const std::vector<Ended> ended = run_all(std::move(commands), environment, at_once, limits);
  for (std::size_t n = 0; n < ended.size(); ++n) {
    interrupted = std::max(interrupted, ended[n].interrupted);
    if (ended[n].ok())
      results[n] = Assembled{runs[n].cubin.content(), runs[n].messages.content()};
    else
      refusal = ended[n].signal == SIGXCPU ? "it took too long"
                                           : first_complaint(runs[n].messages.content());
  }
  return results;
}

bool Ptxas::takes_register_limits() const {
  return !gives(options_, {"-maxrregcount", "--maxrregcount", "-func-maxrregcount",
                           "--device-function-maxrregcount"});
}

std::vector<std::optional<Assembled>> Ptxas::assemble(std::span<const AssemblyRequest> requests) {
  const auto arguments = [&](const AssemblyRequest& request, const std::string& source,
                             const std::string& cubin) {
    std::vector<std::string> words{"-arch=" + architecture_, "-v", source, "-o", cubin};
    words.insert(words.end(), options_.begin(), options_.end());
    if (!request.entries.empty())
      words.insert(words.end(), {"--entry", fmt::format("{}", fmt::join(request.entries, ","))});
    if (request.line_info && !gives(options_, {"-lineinfo", "--generate-line-info"}))
      words.emplace_back("-lineinfo");
    return words;
  };
  Environment environment = Environment::current();
  environment.use_large_pages();
  return assemble_all(program_, environment, requests, arguments, patience_, interrupted_,
                      refusal_);
}

} // namespace ptxasw::driver
