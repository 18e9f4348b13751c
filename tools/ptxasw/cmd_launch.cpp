// ptxasw launch: runs a program with the launcher between it and its CUDA driver.
#include "command_line.hpp"
#include "devices.hpp"
#include "driver/environment.hpp"
#include "driver/files.hpp"
#include "driver/process.hpp"
#include "kept.hpp"
#include "nearest.hpp"
#include "report/page.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace ptxasw::tool {
namespace {

constexpr std::string_view library_name = "libptxasw_launch.so";
constexpr int cannot_run = 127;

constexpr std::string_view usage = R"(usage: ptxasw launch [OPTIONS] -- PROGRAM ARGUMENTS...

Runs a program, and lets each launch of a kernel run the version that suits it. Results stay the
same, bit for bit. Of a program that was built plainly and has the PTX of its machine code beside it
(nvcc -arch=sm_90), versions are prepared in the background while it runs, and launched from its
next cudaDeviceSynchronize or cudaMemcpy to the host on; the next run has them from its start
(ptxasw prepare). A program that was built with --variants (nvcc --ptxas-prefix=ptxasw and -Xptxas
--ptxasw-variants) has versions itself. Where ptxasw rewrote a file when it was built, without
--variants, there are none.

  --policy=measure   the default: the version that the model predicts to be fastest, for the grid,
                     the block and the chip of the launch, until others were tried. The fastest is
                     kept, also for the next run ($XDG_CACHE_HOME/ptxasw/launches); kernels whose
                     threads do not meet are tried in blocks of other shapes, too. Behind the first 16
                     launches of a shape that choice and the original are timed once, and further
                     trials cost one per cent of its time at most, so short programs try little
  --policy=model     what the model predicts, always; nothing is measured
  --policy=NAME      the version of this name wherever there is one: original, x:4, y:8,
                     block:32x8x1, ...
  --report[=FILE]    at exit, a table of kernels and launches with measured times and gains; .json
                     and .html by the name of the file
  --profile=FILE     at exit, write what was measured of each kernel, for the next build
                     (-Xptxas --ptxasw-profile=FILE); ptxasw profile shows it, and makes one file of
                     several. With --policy=measure it has the times of all versions. %p in FILE is
                     the number of the process
  --check[=N]        run all versions of every launch (every N-th) on the same memory; stop with
                     exit code 86 where a byte differs
  --no-steps         make each time step as it comes. Else launches that iterate a stencil may become
                     fewer that do several steps each, where that is seen to be faster
  --no-early         begin each launch when the one in front has ended. Else those of kernels with
                     versions may begin in its last moment (sm_90 and later)
  --steps, --early   both also with --policy=NAME or --profile, which leave launches as they come
  --batch            launches that come in the same order again and again may go out together, where
                     that is seen to be faster
  --wait             prepare the program and the libraries that it is linked with before it runs
  --no-images        prepare nothing, and use nothing that was prepared
  --log              say what is found and decided, on standard error

Ends as the program does. Exit codes of its own: 1, the launcher is not beside ptxasw; 2, a mistake
on the command line; 86, --check found a difference; 127, the program cannot be run.
)";

std::string find_library() {
  const std::filesystem::path program = driver::own_program_file();
  const auto folder = program.parent_path();
  for (const auto& path : {folder / library_name, folder / ".." / PTXASW_LIBDIR / library_name,
                           folder / "../lib" / library_name})
    if (std::error_code none; std::filesystem::exists(path, none))
      return std::filesystem::weakly_canonical(path, none).string();
  return {};
}

// "original", "x:2,y:4", "block:32x8x1": what versions are called.
bool is_name_of_version(std::string_view name) {
  constexpr std::array<std::string_view, 12> kinds{
      "original",      "standard",      "x",          "y", "z", "block", "column", "zigzag", "swap",
      "linear-column", "linear-zigzag", "thread-swap"};
  return std::ranges::find(kinds, name.substr(0, name.find(':'))) != kinds.end();
}

// Of an option without its "--"; empty: nothing.
std::string what_is_wrong(std::string_view word, std::string_view name) {
  constexpr std::array<std::string_view, 13> options{
      "policy", "report",   "profile", "check", "log",       "steps", "no-steps",
      "early",  "no-early", "batch",   "wait",  "no-images", "help"};
  if (std::ranges::find(options, name) == options.end())
    return fmt::format("there is no option --{}{}", name, did_you_mean(name, options));
  const std::string_view value = word.substr(std::min(word.size(), name.size() + 1));
  if (name == "profile" && value.empty()) return "--profile= needs a file to write";
  if (name == "report") return mistaken_report_name(value);
  constexpr std::array<std::string_view, 4> policies{"model", "measure", "original", "standard"};
  if (name != "policy") return {};
  const std::string_view policy = value;
  if (policy.empty()) return "--policy= needs a policy: model, measure, or the name of a version";
  if (std::ranges::find(policies, policy) != policies.end() || is_name_of_version(policy))
    return {};
  const std::string why = did_you_mean(policy, policies);
  return fmt::format("there is no policy {}{}", policy,
                     why.empty() ? ": model, measure, or the name of a version, as y:4" : why);
}

// As execvp finds it; empty: it does not.
std::string found_in_path(const std::string& program) {
  if (program.find('/') != program.npos) return program;
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::string path = std::string(folder.empty() ? "." : folder) + '/' + program;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

bool can_be_run(const std::string& program) {
  const std::string path = found_in_path(program);
  return !path.empty() && ::access(path.c_str(), X_OK) == 0;
}

void tell_what_is_kept(const std::string& path) {
  if (const std::string kept = path.empty() ? path : what_is_kept(path); !kept.empty())
    fmt::print(stderr, "ptxasw launch: {}\n", kept);
}

// Runs the program, whose report is written as JSON, and draws it as a page. Ends as the program.
int run_and_draw(const Arguments& words, const std::string& page, const std::string& json) {
  driver::Command shell{.program = "/bin/sh", .arguments = {"-c", "exec \"$@\"", "ptxasw"}};
  shell.arguments.insert(shell.arguments.end(), words.begin(), words.end()); // found in PATH
  const auto ended = driver::run(std::move(shell), driver::Environment::current());
  if (!ended) {
    fmt::print(stderr, "ptxasw launch: {}\n", ended.error());
    return cannot_run;
  }
  if (std::error_code none; !std::filesystem::exists(json, none)) {
    const bool has_device = !chips_here().empty();
    fmt::print(stderr, "ptxasw launch: {}no kernel was launched, so there is no {}\n",
               has_device ? "" : "no GPU or no driver was found: ", page);
    if (!has_device) tell_what_is_kept(found_in_path(words[0]));
    return driver::end_like(*ended);
  }
  const int drawn = guarded([&] {
    const auto text = report::page_of_launches(read_text(json));
    if (!text) throw std::runtime_error(json + " is no report of a launcher");
    write_text(page, *text);
    std::filesystem::remove(json);
    return exit_done;
  });
  return ended->ok() ? drawn : driver::end_like(*ended);
}

// Before it runs; whatever becomes of that, the program runs.
void prepare_first(const std::string& ptxasw, const std::string& program) {
  const std::string path = found_in_path(program);
  if (path.empty()) return;
  const std::vector<std::string> chips = chips_here();
  if (chips.empty()) {
    fmt::print(stderr, "ptxasw launch: no GPU or no driver was found: nothing is prepared now\n");
    tell_what_is_kept(path);
  }
  for (const std::string& chip : chips)
    if (const auto ended = driver::run(
            {.program = ptxasw, .arguments = {"prepare", "--chip=" + chip, "--format=none", path}},
            driver::Environment::current());
        !ended)
      fmt::print(stderr, "ptxasw launch: {}\n", ended.error());
}

struct Asked {
  std::string settings;      // as the launcher reads them
  std::string page;          // to be drawn of the report
  std::string without_value; // the last option, where it could have had a value
  bool waits = false;        // for what is prepared first
  std::size_t program = 0;   // its place among the arguments
};

// One version of each kernel, or the times of each: launches are wanted as they come.
bool wants_them_singly(std::string_view name, std::string_view word) {
  return name == "profile" ||
         (name == "policy" && word != "policy=measure" && word != "policy=model");
}

// The options ahead of the program; or the exit code where there is nothing to run.
tl::expected<Asked, int> read_options(const Arguments& arguments) {
  Asked asked;
  bool steps = true, early = true;
  std::size_t& at = asked.program;
  for (; at < arguments.size() && arguments[at].starts_with("--"); ++at) {
    const std::string word = arguments[at].substr(2);
    if (word.empty()) {
      ++at;
      break;
    }
    const std::string name = word.substr(0, word.find('='));
    if (name == "help") {
      write_text("-", word == "help=man" ? manual_page_of("launch", usage) : std::string(usage));
      return tl::unexpected(exit_done);
    }
    if (const std::string wrong = what_is_wrong(word, name); !wrong.empty()) {
      fmt::print(stderr, "ptxasw launch: {}\nptxasw launch --help tells the options.\n", wrong);
      return tl::unexpected(2);
    }
    asked.without_value = word == "report" || word == "check" ? word : "";
    if (word == "wait") {
      asked.waits = true;
      continue;
    }
    if (word == "no-steps" || word == "no-early") {
      (word == "no-steps" ? steps : early) = false;
      continue;
    }
    if (wants_them_singly(name, word)) steps = early = false;
    const bool draws = name == "report" && word.ends_with(".html");
    if (draws) asked.page = word.substr(name.size() + 1);
    asked.settings += "," + word + (draws ? ".json" : "");
  }
  asked.settings =
      std::string("on") + (steps ? ",steps" : "") + (early ? ",early" : "") + asked.settings;
  if (at < arguments.size()) return asked;
  fmt::print(stderr, "{}", usage);
  return tl::unexpected(2);
}

} // namespace

int launch(Arguments arguments) {
  const auto asked = read_options(arguments);
  if (!asked) return asked.error();
  const std::string& program = arguments[asked->program];
  if (!asked->without_value.empty() && !can_be_run(program)) { // "--report run.html"
    fmt::print(stderr, "ptxasw launch: {0}: cannot be run; did you mean --{1}={0}?\n", program,
               asked->without_value);
    return cannot_run;
  }
  const std::string library = find_library();
  if (library.empty()) {
    fmt::print(stderr, "ptxasw launch: no {} beside the program or in ../{}\n", library_name,
               PTXASW_LIBDIR);
    return 1;
  }
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string all =
      preloaded == nullptr || *preloaded == '\0' ? library : library + ":" + preloaded;
  const std::string ptxasw = driver::own_program_file();
  if (asked->waits) prepare_first(ptxasw, program);
  ::setenv("PTXASW_PROGRAM", ptxasw.c_str(), 1);
  ::setenv("LD_PRELOAD", all.c_str(), 1);
  ::setenv("PTXASW_LAUNCH", asked->settings.c_str(), 1);
  arguments.erase(arguments.begin(),
                  arguments.begin() + static_cast<std::ptrdiff_t>(asked->program));
  if (!asked->page.empty()) return run_and_draw(arguments, asked->page, asked->page + ".json");
  std::vector<char*> words;
  for (std::string& word : arguments)
    words.push_back(word.data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  fmt::print(stderr, "ptxasw launch: {}: cannot be run\n", words[0]);
  return cannot_run;
}

} // namespace ptxasw::tool
