// One call in the place of ptxas, from the arguments to the exit code.
//
// The rule above all others: with us in the way a build must not do worse. So everything that is
// not certain to be understood leaves by pass_through, where the process becomes the real ptxas;
// whatever goes wrong after a rewrite leaves by fall_back, which assembles the original. Only a
// rewritten input is waited for. Inputs are never written to; outputs are written by ptxas alone.
#include "driver/drop_in.hpp"

#include "driver/coarsen_search.hpp"
#include "driver/command_line.hpp"
#include "driver/contraction_search.hpp"
#include "driver/crash_net.hpp"
#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/log.hpp"
#include "driver/messages.hpp"
#include "driver/process.hpp"
#include "driver/register_guard.hpp"
#include "driver/settings.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int failure_code = 255; // ptxas knows no other
constexpr std::size_t largest_output = std::size_t{1} << 30;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void complain(std::string_view severity, std::string_view text) {
  write_all(STDERR_FILENO, fmt::format("ptxasw {}: {}\n", severity, text));
}

// A file of its own to write, or none yet. Devices and FIFOs are left to ptxas: we may have to
// write more than once.
bool is_plain_output(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

struct Input {
  std::string path; // as in the arguments; "-" for standard input
  std::string text;
  std::string pinned; // the text with ptxas' own choice of fused products written down
  std::optional<CoarsenSearch> search; // with --coarsen=auto, where there is something to gain
  Optimized optimized;
  [[nodiscard]] std::string shown() const { return path == "-" ? "<stdin>" : path; }
};

// What a run of ptxas printed.
struct Assembly {
  Ended ended;
  std::string output, error;
};

class Session {
public:
  Session(const Invocation& invocation, const Program& the_program, Environment env)
      : call(invocation), program(the_program), environment(std::move(env)),
        line(parse_command_line(call.arguments)),
        nested(environment.get(tried_variable).has_value()),
        settings(read_settings(environment.get("PTXASW_FLAGS").value_or(""), line.own_options())),
        log_path(nested ? "" : environment.get("PTXASW_LOG").value_or("")) {
    if (settings.options.architecture.empty()) settings.options.architecture = line.architecture();
  }

  int run_call() {
    const bool asks_version = line.doubt.empty() && line.has(Role::version);
    if (!nested)
      for (const std::string& complaint : settings.complaints)
        complain("warning", complaint);
    const auto found = find_ptxas({own_program_file(), call.named_ptxas}, environment);
    if (!found) {
      if (asks_version && call.stand_alone) return print_version();
      complain("fatal", found.error());
      return failure_code;
    }
    ptxas = *found;
    if (nested) return pass_through("called by another ptxasw");
    if (asks_version) return version();
    if (auto why = reason_to_leave()) return pass_through(*why);
    if (auto why = read_inputs()) return pass_through(*why);
    if (auto why = optimize({})) return leave(line.untouched, record("fell back", *why));
    if (pin_contractions()) {
      if (auto why = optimize({})) return leave(line.untouched, record("fell back", *why));
    }
    if (search_coarsenings()) {
      if (interrupted != 0) return end_like({.interrupted = interrupted});
      if (auto why = optimize({})) return leave(line.untouched, record("fell back", *why));
    }
    if (changed_kernels().empty()) return pass_through("nothing to rewrite");
    return assemble();
  }

private:
  // The real text first: callers look for the release in it and keep it as a cache key, in which
  // ours has to show as well.
  int version() {
    const auto ended = run(command(line.untouched), environment);
    if (!ended) return cannot_run(ended.error());
    if (ended->ok()) print_version();
    return end_like(*ended);
  }

  int print_version() {
    const auto build = hash_regular_file(own_program_file()).value_or(0);
    write_all(STDOUT_FILENO, fmt::format("ptxasw {} (build {:016x}){}\n", program.version, build,
                                         settings.text()));
    return 0;
  }

  std::optional<std::string> reason_to_leave() const {
    const std::string architecture = line.architecture();
    const auto paths = line.inputs();
    if (!line.doubt.empty()) return "arguments not understood: " + line.doubt;
    if (line.has(Role::information)) return "prints information only";
    if (!rewrites(settings.options)) return "no rewrite is switched on";
    if (const Item* item = line.last(Role::hands_off)) return item->words[0] + " is given";
    if (line.opt_level() == 0U) return "optimization level 0";
    if (!architecture.starts_with("sm_")) return "no code is made for " + architecture;
    if (paths.empty()) return "no input file";
    if (std::ranges::count(paths, "-") > 1) return "standard input is named twice";
    if (!is_plain_output(line.output())) return "the output is not a regular file";
    return std::nullopt;
  }

  std::optional<std::string> read_inputs() {
    for (const std::string& path : line.inputs()) {
      auto text = path == "-" ? spool_standard_input()
                              : read_regular_file(path, settings.options.size_limit);
      if (!text) return path + ": " + text.error();
      inputs.push_back({path, *text, *text, {}});
    }
    return std::nullopt;
  }

  // Standard input can be read once; from now on it is a file that can be read again.
  tl::expected<std::string, std::string> spool_standard_input() {
    auto text = read_all(STDIN_FILENO);
    if (!text) return text;
    const auto spool = MemoryFile::create(*text);
    if (!spool || ::dup2(spool->descriptor(), STDIN_FILENO) < 0)
      return tl::unexpected<std::string>("standard input could not be kept");
    spooled = true;
    if (text->size() > settings.options.size_limit) return tl::unexpected<std::string>("too large");
    return text;
  }

  void rewind_input() const {
    if (spooled) ::lseek(STDIN_FILENO, 0, SEEK_SET);
  }

  std::optional<std::string> optimize(const std::vector<std::string>& keep) {
    const auto begin = Clock::now();
    LogRecord crashed = record("fell back", "the optimizer crashed or did not come to an end");
    const CrashNet net({command(line.untouched), environment, program.deadline, spooled, log_path,
                        log_path.empty() ? "" : to_json_line(crashed)});
    try {
      for (Input& input : inputs) {
        Options options = settings.options;
        if (input.search) options.coarsen_kernels = input.search->choices();
        input.optimized = program.optimize(input.pinned, input.shown(), options, keep);
        if (input.search) describe(*input.search, input.optimized.report);
        if (input.optimized.text == input.pinned) input.optimized.changed = false;
      }
    } catch (const std::exception& error) {
      return std::string("the optimizer failed: ") + error.what();
    }
    optimize_ms += milliseconds_since(begin);
    return std::nullopt;
  }

  // Writes down which products ptxas fuses in kernels that wait for it; true if any choice is
  // found.
  bool pin_contractions() {
    bool found = false;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      Input& input = inputs[n];
      const auto kernels = held_back_by_contraction(input.optimized.report);
      if (kernels.empty()) continue;
      const auto choices =
          find_contractions(input.text, input.shown(), kernels,
                            [&](const std::string& text) { return cubin_with(n, text); });
      if (choices.empty()) continue;
      input.pinned = pin_contraction(input.text, input.shown(), choices);
      found = true;
    }
    return found;
  }

  // Tries the ways in which kernels may be coarsened; true if there was anything to try.
  bool search_coarsenings() {
    bool searched = false;
    for (std::size_t n = 0; n < inputs.size() && interrupted == 0; ++n) {
      Input& input = inputs[n];
      const auto& kernels = input.optimized.report.kernels;
      const bool any = std::ranges::any_of(
          kernels, [](const KernelReport& kernel) { return !kernel.candidates.empty(); });
      if (!any || (spooled && inputs.size() > 1)) continue;
      const bool limited = line.gives("maxrregcount") || line.gives("device-function-maxrregcount");
      searched = true;
      input.search = find_coarsenings(
          input.pinned, input.optimized.report, settings.options,
          {.architecture = settings.options.architecture, .limit_registers = !limited},
          [&](const Options& options) {
            return program.optimize(input.pinned, input.shown(), options, {}).text;
          },
          [&](const auto& texts, const auto& names) { return assemble_instead(n, texts, names); });
    }
    return searched;
  }

  // What ptxas makes when input `n` reads each of `texts`.
  std::vector<std::optional<Assembled>> assemble_instead(std::size_t n,
                                                         const std::vector<std::string>& texts,
                                                         const std::vector<std::string>& kernels) {
    const auto arguments = [&](const std::string& source, const std::string& cubin) {
      Changes changes{.inputs = std::vector<std::optional<std::string>>(inputs.size()),
                      .verbose = true,
                      .entries = fmt::format("{}", fmt::join(kernels, ",")),
                      .output = cubin};
      changes.inputs[n] = source;
      return line.with(changes);
    };
    return assemble_all(ptxas, environment, texts, arguments, interrupted);
  }

  // The cubin that ptxas makes when input `n` reads `text`.
  std::optional<std::string> cubin_with(std::size_t n, const std::string& text) {
    const auto cubin = MemoryFile::create({}, true);
    const auto source = MemoryFile::create(text, true);
    if (!cubin || !source) return std::nullopt;
    Changes changes{.inputs = std::vector<std::optional<std::string>>(inputs.size()),
                    .output = cubin->path()};
    changes.inputs[n] = source->path();
    if (!captured(line.with(changes)).ended.ok()) return std::nullopt;
    return cubin->content();
  }

  std::vector<std::string> changed_kernels() const {
    std::vector<std::string> names;
    for (const Input& input : inputs)
      if (input.optimized.changed)
        for (const KernelReport& kernel : input.optimized.report.kernels)
          if (kernel.changed) names.push_back(kernel.name);
    return names;
  }

  int assemble() {
    auto result = assemble_rewritten();
    if (result.ended.interrupted != 0) return end_like(result.ended);
    if (!result.ended.ok()) return fall_back("ptxas did not take the rewritten PTX", result);
    taken_back = kernels_to_take_back(
        changed_kernels(), machine::read_usage(result.error),
        {[this] { return original_usage(); }, [this](auto kernel) { return is_bounded(kernel); }});
    if (!taken_back.empty()) {
      std::vector<std::string> keep;
      for (const TakenBack& back : taken_back)
        keep.push_back(back.kernel);
      if (auto why = optimize(keep)) return fall_back(*why, result);
      if (changed_kernels().empty()) return fall_back("every rewrite was taken back", result);
      result = assemble_rewritten();
      if (result.ended.interrupted != 0) return end_like(result.ended);
      if (!result.ended.ok()) return fall_back("ptxas did not take the rewritten PTX", result);
    }
    show(result);
    write_log(record("rewritten", ""), result.ended);
    return 0;
  }

  // Runs ptxas on the rewritten texts, with -v for the register guard.
  Assembly assemble_rewritten() {
    Changes changes{.inputs = {}, .verbose = true};
    feeds.clear();
    for (const Input& input : inputs) {
      changes.inputs.emplace_back();
      if (!input.optimized.changed) continue;
      changes.inputs.back() = feed(input.optimized.text);
      if (!changes.inputs.back()) return {{.code = failure_code}, "", "no memory file"};
    }
    return captured(line.with(changes));
  }

  machine::UsageTable original_usage() {
    Changes changes{.inputs = original_inputs(), .verbose = true, .output = "/dev/null"};
    return machine::read_usage(captured(line.with(changes)).error);
  }

  bool is_bounded(std::string_view kernel) const {
    return std::ranges::any_of(
        inputs, [&](const Input& input) { return states_block_size(input.text, kernel); });
  }

  // The inputs as they are, from memory where ptxas has written its output over one of them.
  std::vector<std::optional<std::string>> original_inputs() {
    std::vector<std::optional<std::string>> paths;
    for (const Input& input : inputs) {
      paths.emplace_back();
      if (input.path == "-") continue;
      if (read_regular_file(input.path, largest_output).value_or("") != input.text)
        paths.back() = feed(input.text);
    }
    return paths;
  }

  std::optional<std::string> feed(std::string_view text) {
    auto file = MemoryFile::create(text, true);
    if (!file) return std::nullopt;
    feeds.push_back(std::move(*file));
    return feeds.back().path();
  }

  Assembly captured(const std::vector<std::string>& arguments) {
    const auto output = MemoryFile::create();
    const auto error = MemoryFile::create();
    Command run_this = command(arguments);
    Assembly result;
    if (!output || !error) {
      result.ended.code = failure_code;
      return result;
    }
    run_this.output = output->descriptor();
    run_this.error = error->descriptor();
    rewind_input();
    result.ended = run(run_this, environment).value_or(Ended{.code = failure_code});
    result.output = output->content();
    result.error = error->content();
    return result;
  }

  void show(const Assembly& result) const {
    std::string error = result.error;
    std::size_t next = 0;
    for (const Input& input : inputs) {
      if (!input.optimized.changed || next == feeds.size()) continue;
      error = in_terms_of_original(
          std::move(error), {feeds[next++].path(), input.path, input.text, input.optimized.text});
    }
    write_all(STDOUT_FILENO, result.output);
    write_all(STDERR_FILENO, line.has(Role::verbose) ? error : without_statistics(error));
  }

  Command command(const std::vector<std::string>& arguments) const { return {ptxas, arguments}; }

  int pass_through(const std::string& why) {
    return leave(line.untouched, record("passed through", why));
  }

  int fall_back(const std::string& why, const Assembly& tried) {
    feeds.clear();
    const auto originals = original_inputs();
    const bool overwritten =
        std::ranges::any_of(originals, [](const auto& path) { return path.has_value(); });
    std::string reason = why;
    if (!tried.ended.ok()) reason += ": " + tried.error.substr(0, tried.error.find('\n'));
    return leave(overwritten ? line.with({.inputs = originals}) : line.untouched,
                 record("fell back", reason));
  }

  // The real ptxas on unchanged PTX, in our place unless there is something to write down
  // afterwards.
  int leave(const std::vector<std::string>& arguments, const LogRecord& what) {
    rewind_input();
    if (log_path.empty()) return cannot_run(replace_process(command(arguments), environment));
    const auto ended = run(command(arguments), environment);
    if (!ended) return cannot_run(ended.error());
    write_log(what, *ended);
    return end_like(*ended);
  }

  static int cannot_run(const std::string& why) {
    complain("fatal", why);
    return failure_code;
  }

  LogRecord record(std::string action, std::string reason) const {
    LogRecord made;
    if (log_path.empty()) return made;
    made.version = program.version;
    made.settings = settings.text();
    made.ptxas = ptxas;
    made.arguments = call.arguments;
    made.action = std::move(action);
    made.reason = std::move(reason);
    made.taken_back = taken_back;
    for (const Input& input : inputs)
      made.inputs.push_back({input.path, input.text.size(), hash(input.text),
                             input.optimized.changed, input.optimized.report});
    made.optimize_ms = optimize_ms;
    return made;
  }

  void write_log(LogRecord what, const Ended& ended) {
    if (log_path.empty()) return;
    what.ended = ended;
    what.total_ms = milliseconds_since(start);
    if (what.inputs.empty())
      for (const std::string& path : line.inputs())
        if (const auto text = read_regular_file(path, largest_output))
          what.inputs.push_back({path, text->size(), hash(*text), false, {}});
    what.output = line.output();
    if (ended.ok()) what.output_hash = hash_regular_file(what.output);
    what.ptxas_version = version_number(captured({"--version"}).output);
    if (!append_line(log_path, to_json_line(what)))
      complain("warning", "could not write to " + log_path);
  }

  const Clock::time_point start = Clock::now();
  const Invocation& call;
  const Program& program;
  Environment environment;
  CommandLine line;
  bool nested;
  Settings settings;
  std::string log_path;
  std::string ptxas;
  std::vector<Input> inputs;
  std::vector<MemoryFile> feeds; // what ptxas reads in place of inputs, in order
  std::vector<TakenBack> taken_back;
  bool spooled = false;
  int interrupted = 0; // the signal that came while coarsenings were tried
  double optimize_ms = 0;
};

} // namespace

int drop_in(const Invocation& call, const Program& program, Environment environment) {
  return Session(call, program, std::move(environment)).run_call();
}

} // namespace ptxasw::driver
