// One call in the place of ptxas, from the arguments to the exit code.
//
// The rule above all others: with us in the way a build must not do worse. So everything that is
// not certain to be understood leaves by pass_through, where the process becomes the real ptxas;
// whatever goes wrong after a rewrite leaves by fall_back, which assembles the original. All that
// the optimizer does, its questions to ptxas included, and what is said of it afterwards, is done
// inside a CrashNet. Only a rewritten input is waited for. Inputs are never written to; outputs are
// what ptxas made, written by itself or, where it was a trial that made it, by us.
#include "driver/drop_in.hpp"

#include "driver/command_line.hpp"
#include "driver/commit.hpp"
#include "driver/crash_net.hpp"
#include "driver/decision_cache.hpp"
#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/inputs.hpp"
#include "driver/log.hpp"
#include "driver/messages.hpp"
#include "driver/process.hpp"
#include "driver/ptxas.hpp"
#include "driver/settings.hpp"
#include "driver/stored_profile.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <sys/resource.h>
#include <tuple>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int failure_code = 255; // ptxas knows no other

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void complain(std::string_view severity, std::string_view text) {
  write_all(STDERR_FILENO, fmt::format("ptxasw {}: {}\n", severity, text));
}

// What ptxas has made of a text, with the options of the call and of all its kernels.
struct WholeTrial {
  std::string text;
  Assembled made;
};

// A run of ptxas that wrote the output.
struct Kept {
  Texts texts;
  Ended ended;
  std::string output, error; // what it printed
};

class Session {
public:
  Session(const Invocation& invocation, const Program& the_program, Environment env)
      : call(invocation), program(the_program), environment(std::move(env)),
        line(parse_command_line(call.arguments)),
        nested(environment.get(tried_variable).has_value()),
        settings(read_settings(environment.get("PTXASW_FLAGS").value_or(""), line.own_options())),
        cache(nested ? "off" : settings.options.decision_cache, environment,
              [](const std::string& text) { complain("warning", text); }),
        log_path(nested ? "" : environment.get("PTXASW_LOG").value_or("")) {
    if (settings.options.architecture.empty()) settings.options.architecture = line.architecture();
    settings.options.details = !log_path.empty();
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  int run_call() {
    const bool asks_version = line.doubt.empty() && line.has(Role::version);
    if (!nested)
      for (const std::string& complaint : settings.complaints)
        complain("warning", complaint);
    const auto found = find_ptxas({own_program_file(), call.named_ptxas}, environment);
    if (!found) {
      if (asks_version && call.stand_alone && !environment.get("PTXASW_PTXAS"))
        return print_version();
      complain("fatal", found.error());
      return failure_code;
    }
    ptxas = *found;
    try {
      return run_with_ptxas(asks_version);
    } catch (const std::exception&) {
      inputs.rewind();
      return cannot_run(replace_process(command(line.untouched), environment));
    }
  }

private:
  int run_with_ptxas(bool asks_version) {
    if (nested) return pass_through("called by another ptxasw");
    if (asks_version) return version();
    if (auto why = reason_to_leave()) return pass_through(*why);
    if (auto why = inputs.read(line.inputs(), settings.options.size_limit))
      return pass_through(*why);
    environment.use_large_pages(); // of every ptxas from here on, the one that we become included
    if (auto why = optimize()) return fall_back(*why);
    if (interrupted != 0) return end_like({.interrupted = interrupted});
    if (!inputs.is_any_changed())
      return kept ? fall_back(why_nothing_stays()) : pass_through("nothing to rewrite");
    return deliver();
  }

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
    const std::string from = commit().empty() ? "" : fmt::format("commit {}, ", commit());
    write_all(STDOUT_FILENO, fmt::format("ptxasw {} ({}build {:016x}){}\n", program.version, from,
                                         build, settings.text()));
    return 0;
  }

  std::optional<std::string> reason_to_leave() const {
    const std::string architecture = line.architecture();
    const auto paths = line.inputs();
    if (!line.doubt.empty()) return "arguments not understood: " + line.doubt;
    if (line.has(Role::information)) return "prints information only";
    if (!rewrites(settings.options) && !further_entries(settings.options))
      return "no rewrite is switched on";
    if (const Item* item = line.last(Role::hands_off)) return item->words[0] + " is given";
    if (const Item* item = line.ordering())
      return "plain accesses are as ordered ones: " + item->words[0];
    if (line.opt_level() == 0U) return "optimization level 0";
    if (!architecture.starts_with("sm_")) return "no code is made for " + architecture;
    if (paths.empty()) return "no input file";
    if (std::ranges::count(paths, "-") > 1) return "standard input is named twice";
    if (!is_plain_output(line.output())) return "the output is not a regular file";
    return std::nullopt;
  }

  // The assembler that the optimizer may ask about input `n`: this very call of ptxas, with another
  // text in the place of that input.
  class Asked : public Assembler {
  public:
    Asked(Session& session, std::size_t n) : session_(session), n_(n) {}
    using Assembler::assemble;
    [[nodiscard]] bool takes_register_limits() const override {
      return !session_.line.gives("maxrregcount") &&
             !session_.line.gives("device-function-maxrregcount");
    }
    std::vector<std::optional<Assembled>>
    assemble(std::span<const AssemblyRequest> requests) override {
      return session_.try_texts(n_, requests);
    }
    std::optional<Assembled> keep(const std::string& text) override {
      return session_.keep(n_, text);
    }
    [[nodiscard]] std::string refusal() const override { return session_.refusal; }

    std::optional<Recalled> recall(const std::string& text) override {
      return session_.cache.recall(session_.conditions(n_), text);
    }
    void remember(const std::string& text, const std::string& decisions) override {
      if (session_.interrupted == 0)
        session_.cache.remember(session_.conditions(n_), text, decisions);
    }

  private:
    Session& session_;
    std::size_t n_;
  };

  // What a decision about input `n` hangs on beside its text: the options, ptxas' and ours, both
  // programs, and other inputs, whose functions it may call.
  [[nodiscard]] std::string conditions(std::size_t n) {
    std::string all = cache.identity(ptxas) + '\n' + cache.identity(own_program_file()) + '\n';
    for (std::size_t other = 0; other < inputs.all().size(); ++other)
      if (other != n) all += fmt::format("beside {:016x}\n", hash(inputs.all()[other].text));
    for (const std::string& option : settings.given)
      if (!option.starts_with("decision-cache=") && !option.starts_with("profile="))
        all += option + '\n';
    for (const Item& item : line.items)
      if (item.kind == Item::Kind::option && item.option->role != Role::output)
        for (const std::string& word : item.words)
          all += word + '\n';
    return all;
  }

  std::optional<std::string> optimize() {
    const auto begin = Clock::now();
    if (const auto warning = read_stored_profile(settings.options, environment))
      complain("warning", *warning);
    if (!log_path.empty())
      crash_line =
          to_json_line(record("fell back", "the optimizer crashed or did not come to an end"));
    auto failure = guarded([&] {
      for (std::size_t n = 0; n < inputs.all().size() && interrupted == 0; ++n) {
        Input& input = inputs.all()[n];
        Asked asked(*this, n);
        input.optimized = program.optimize(input.text, input.shown(), settings.options, &asked);
      }
    });
    optimize_ms += milliseconds_since(begin);
    for (const Input& input : inputs.all())
      for (const std::string& warning : input.optimized.report.warnings)
        complain("warning", warning);
    return failure;
  }

  // Work of ours, which ends in ptxas on the inputs as they came if it crashes or comes to no end.
  // Where it threw, why.
  template <class Work> std::optional<std::string> guarded(const Work& work) {
    CrashNet around({.command = command(untouched_or_spared()),
                     .environment = environment,
                     .deadline = program.deadline,
                     .memory = program.memory,
                     .rewind_input = inputs.has_standard_input(),
                     .log_path = log_path,
                     .log_line = crash_line});
    net = &around;
    std::optional<std::string> failure;
    try {
      work();
    } catch (const std::exception& error) {
      failure = std::string("the optimizer failed: ") + error.what();
    }
    net = nullptr;
    return failure;
  }

  std::vector<std::optional<Assembled>> try_texts(std::size_t n,
                                                  std::span<const AssemblyRequest> requests) {
    // Several runs at a time cannot share what is left of standard input.
    if (inputs.has_standard_input() && inputs.all().size() > 1)
      return std::vector<std::optional<Assembled>>(requests.size());
    const auto arguments = [&](const AssemblyRequest& request, const std::string& source,
                               const std::string& cubin) {
      Changes changes{.inputs = Texts(inputs.all().size()),
                      .verbose = true,
                      .line_info = request.line_info,
                      .entries = fmt::format("{}", fmt::join(request.entries, ",")),
                      .output = cubin};
      changes.inputs[n] = source;
      return line.with(changes);
    };
    const CrashNet::Outside outside(net, CrashNet::Clock::runs);
    auto made = assemble_all(ptxas, environment, requests, arguments, inputs.all()[n].patience,
                             interrupted, refusal);
    for (std::size_t one = 0; one < requests.size(); ++one)
      if (made[one] && requests[one].entries.empty() && !requests[one].line_info)
        whole_trial = WholeTrial{requests[one].text, *made[one]};
    return made;
  }

  // Where a trial was of this very text and of all its kernels, ptxas would make the same of it
  // once more: the options are the same, of which a cubin has a note, and names of files are in it
  // only where that is asked for. Where several outputs are named it warns.
  [[nodiscard]] bool keep_trial(const Texts& texts) {
    if (!whole_trial || texts.size() != 1 || whole_trial->text != texts[0] ||
        line.has(Role::side_output) || line.count(Role::output) > 1 ||
        line.gives("verbose-tkinfo") ||
        whole_trial->made.messages.find("/proc/self/fd/") != std::string::npos ||
        !write_output(line.output(), whole_trial->made.cubin))
      return false;
    feeds.clear();
    kept = Kept{texts, {}, "", whole_trial->made.messages};
    return true;
  }

  // Runs ptxas for good with `text` for input `n`, and for the other inputs what has been made of
  // them.
  std::optional<Assembled> keep(std::size_t n, const std::string& text) {
    Texts texts = inputs.rewritten();
    texts[n] = text;
    if (interrupted != 0) return std::nullopt;
    const CrashNet::Outside outside(net, CrashNet::Clock::stands);
    keep(std::move(texts));
    interrupted = kept->ended.interrupted;
    if (!kept->ended.ok()) return std::nullopt;
    return Assembled{read_regular_file(line.output(), largest_output).value_or(""),
                     kept->output + kept->error};
  }

  void keep(Texts texts) {
    if (keep_trial(texts)) return;
    Changes changes{.inputs = Texts(inputs.all().size()), .verbose = true};
    feeds.clear();
    kept = Kept{std::move(texts), {.code = failure_code}, "", "no memory file"};
    for (std::size_t n = 0; n < inputs.all().size(); ++n) {
      if (!kept->texts[n]) continue;
      changes.inputs[n] = feed(feeds, *kept->texts[n]);
      if (!changes.inputs[n]) return;
    }
    std::tie(kept->ended, kept->output, kept->error) = captured(line.with(changes));
  }

  // Something was assembled, but in the end every input is as it was.
  [[nodiscard]] std::string why_nothing_stays() const {
    return kept->ended.ok() ? "every rewrite was reverted" : "ptxas did not take the rewritten PTX";
  }

  // What ptxas made of the rewritten inputs stays.
  int deliver() {
    std::string error;
    const auto failure = guarded([&] {
      Texts texts = inputs.rewritten();
      if (!kept || kept->texts != texts) {
        const CrashNet::Outside outside(net, CrashNet::Clock::stands);
        keep(std::move(texts));
      }
      error = errors_to_show();
    });
    if (failure) return fall_back(*failure);
    if (kept->ended.interrupted != 0) return end_like(kept->ended);
    if (!kept->ended.ok()) return fall_back("ptxas did not take the rewritten PTX");
    write_all(STDOUT_FILENO, kept->output);
    write_all(STDERR_FILENO, error);
    write_log("rewritten", "", kept->ended);
    return 0;
  }

  // The arguments as they came, but for inputs over which ptxas writes its output: those are read
  // from memory.
  std::vector<std::string> untouched_or_spared() {
    Changes changes{.inputs = Texts(inputs.all().size())};
    bool is_spared = false;
    for (std::size_t n = 0; n < inputs.all().size(); ++n) {
      const Input& input = inputs.all()[n];
      if (input.path == "-" || !file_id(line.output()) ||
          file_id(input.path) != file_id(line.output()))
        continue;
      changes.inputs[n] = feed(spared, input.text);
      is_spared = true;
    }
    return is_spared ? line.with(changes) : line.untouched;
  }

  // How a run of ptxas ended, and what it printed.
  std::tuple<Ended, std::string, std::string> captured(const std::vector<std::string>& arguments) {
    const auto output = MemoryFile::create();
    const auto error = MemoryFile::create();
    if (!output || !error) return {Ended{.code = failure_code}, "", ""};
    Command run_this = command(arguments);
    run_this.output = output->descriptor();
    run_this.error = error->descriptor();
    inputs.rewind();
    return {run(run_this, environment).value_or(Ended{.code = failure_code}), output->content(),
            error->content()};
  }

  // What ptxas says of the inputs as they came. None: that cannot be asked.
  std::optional<std::string> said_of_originals() {
    std::vector<MemoryFile> files;
    const auto cubin = MemoryFile::create({}, true);
    const Changes changes{.inputs = inputs.originals(files), .output = cubin ? cubin->path() : ""};
    if (!cubin || !files.empty() || line.count(Role::output) > 1) return std::nullopt;
    const CrashNet::Outside outside(net, CrashNet::Clock::stands);
    const auto [ended, output, error] = captured(line.with(changes));
    kept->ended.interrupted = ended.interrupted;
    return ended.ok() ? std::optional(error) : std::nullopt;
  }

  // A warning may be of another place in a rewritten text, and of entries that were added.
  std::string errors_to_show() {
    if (!line.has(Role::verbose) && !without_statistics(kept->error).empty())
      if (auto said = said_of_originals()) return *said;
    std::string error = inputs.in_their_terms(kept->error, feeds);
    if (!inputs.state_block_sizes()) error = without_entry_limits(error);
    return line.has(Role::verbose) ? error : without_statistics(error);
  }

  Command command(const std::vector<std::string>& arguments) const { return {ptxas, arguments}; }

  int pass_through(const std::string& why) { return leave(line.untouched, "passed through", why); }

  int fall_back(const std::string& why) {
    feeds.clear();
    std::vector<std::string> arguments = line.untouched;
    std::string reason = why;
    guarded([&] {
      const Texts originals = inputs.originals(feeds);
      const bool overwritten =
          std::ranges::any_of(originals, [](const auto& path) { return path.has_value(); });
      if (overwritten) arguments = line.with({.inputs = originals});
      if (kept && !kept->ended.ok()) reason += ": " + kept->error.substr(0, kept->error.find('\n'));
    });
    return leave(arguments, "fell back", reason);
  }

  // The real ptxas on unchanged PTX, in our place unless there is something to write down
  // afterwards.
  int leave(const std::vector<std::string>& arguments, const std::string& action,
            const std::string& reason) {
    inputs.rewind();
    if (log_path.empty()) return cannot_run(replace_process(command(arguments), environment));
    const auto ended = run(command(arguments), environment);
    if (!ended) return cannot_run(ended.error());
    write_log(action, reason, *ended);
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
    made.reverted = inputs.reverted();
    for (const Input& input : inputs.all())
      made.inputs.push_back({input.path, input.text.size(), hash(input.text),
                             input.optimized.changed, input.optimized.report});
    made.optimize_ms = optimize_ms;
    return made;
  }

  // All else is done: a fault costs the line, and the call ends as it would.
  void write_log(const std::string& action, const std::string& reason, const Ended& ended) {
    if (log_path.empty()) return;
    CrashNet around({.environment = environment,
                     .deadline = program.deadline,
                     .memory = program.memory,
                     .exit_code = ended.signal != 0 ? 128 + ended.signal : ended.code});
    try {
      const bool written = append_line(log_path, log_line(action, reason, ended, &around));
      if (!written) complain("warning", "could not write to " + log_path);
    } catch (const std::exception& error) {
      complain("warning", log_path + ": " + error.what());
    }
  }

  std::string log_line(const std::string& action, const std::string& reason, const Ended& ended,
                       CrashNet* around) {
    LogRecord what = record(action, reason);
    what.ended = ended;
    what.total_ms = milliseconds_since(start);
    what.own_processor_ms = processor_ms(RUSAGE_SELF);
    what.ptxas_processor_ms = processor_ms(RUSAGE_CHILDREN);
    if (what.inputs.empty())
      for (const std::string& path : line.inputs())
        if (const auto text = read_regular_file(path, largest_output))
          what.inputs.push_back({path, text->size(), hash(*text), false, {}});
    what.output = line.output();
    if (ended.ok()) what.output_hash = hash_regular_file(what.output);
    {
      const CrashNet::Outside outside(around, CrashNet::Clock::stands);
      what.ptxas_version = version_number(std::get<1>(captured({"--version"})));
    }
    return to_json_line(what);
  }

  const Clock::time_point start = Clock::now();
  const Invocation& call;
  const Program& program;
  Environment environment;
  CommandLine line;
  bool nested;
  Settings settings;
  DecisionCache cache;
  std::string log_path;
  std::string ptxas;
  Inputs inputs;
  std::vector<MemoryFile> feeds;         // what ptxas reads in place of inputs, in order
  std::vector<MemoryFile> spared;        // and what it reads after a crash
  std::optional<Kept> kept;              // the last run that wrote the output
  std::optional<WholeTrial> whole_trial; // the last of those
  CrashNet* net = nullptr;               // while the optimizer runs
  std::string crash_line;                // of the log, if it crashes
  int interrupted = 0;                   // the signal that came while the optimizer asked ptxas
  std::string refusal;                   // what ptxas said of the last text that it did not take
  double optimize_ms = 0;
};

} // namespace

int drop_in(const Invocation& call, const Program& program, Environment environment) {
  outlive_file_size_limit();
  return Session(call, program, std::move(environment)).run_call();
}

} // namespace ptxasw::driver
