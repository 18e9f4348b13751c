// Runs a compiler on a kernel. It runs with PTXASW_LOG set: a line in the log is the proof.
#include "driver/self_test.hpp"

#include "driver/files.hpp"
#include "driver/find_ptxas.hpp"
#include "driver/hooks.hpp"
#include "driver/process.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace ptxasw::driver {
namespace {

namespace fs = std::filesystem;

// A tree in shared memory, of which the last steps are rewritten by default; and no header, which
// clang may not have for this toolkit. The name is new each time: a compiler cache must not answer
// from an earlier test.
constexpr std::string_view cuda_kernel = R"(
__attribute__((global)) void ptxasw_self_test_{0}(const float* __restrict__ in, float* out) {{
  __attribute__((shared)) static float sums[256];
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  sums[t] = in[t];
  asm volatile("bar.sync 0;" ::: "memory");
  for (int k = 128; k > 0; k >>= 1) {{
    if (t < k) sums[t] += sums[t + k];
    asm volatile("bar.sync 0;" ::: "memory");
  }}
  if (t == 0) out[0] = sums[0];
}}
)";
constexpr std::string_view openmp_kernel = R"(
void ptxasw_self_test_{0}(const float* in, float* out, int n) {{
#pragma omp target teams distribute parallel for map(to : in[0 : n]) map(from : out[0 : n])
  for (int i = 1; i < n - 1; ++i) out[i] = in[i - 1] + in[i] + in[i + 1];
}}
)";

class TemporaryFolder {
public:
  TemporaryFolder() : path((fs::temp_directory_path() / "ptxasw-self-test-XXXXXX").string()) {
    if (::mkdtemp(path.data()) == nullptr) path.clear();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path;
};

bool mentions(const std::vector<std::string>& command, std::string_view what) {
  return std::ranges::any_of(
      command, [&](const std::string& word) { return word.find(what) != std::string::npos; });
}

bool is_source(const std::string& word) {
  static constexpr std::array<std::string_view, 9> endings{".cu", ".c",   ".cc", ".cpp", ".cxx",
                                                           ".C",  ".ptx", ".o",  ".f90"};
  return !word.starts_with('-') &&
         std::ranges::any_of(endings, [&](auto ending) { return word.ends_with(ending); });
}

std::vector<std::string> without_inputs(const std::vector<std::string>& command) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "-o" || word == "--output-file")
      ++i;
    else if (i == 0 || (word != "-c" && !is_source(word)))
      kept.push_back(word);
  }
  return kept;
}

struct Trial {
  Ended ended;
  std::string printed, log;
};

tl::expected<Trial, std::string> attempt(const std::vector<std::string>& command,
                                         Environment environment) {
  const TemporaryFolder folder;
  if (folder.path.empty()) return tl::unexpected<std::string>("no folder for temporary files");
  const bool openmp = mentions(command, "openmp");
  const std::string source = folder.path + (openmp ? "/kernel.c" : "/kernel.cu");
  const std::string unique = fs::path(folder.path).filename().string().substr(17);
  std::ofstream(source) << fmt::format(fmt::runtime(openmp ? openmp_kernel : cuda_kernel), unique);

  std::vector<std::string> words = without_inputs(command);
  words.insert(words.end(), {"-c", source, "-o", folder.path + "/kernel.o"});
  const std::string compiler = find_in_path(words[0], environment);
  if (compiler.empty()) return tl::unexpected("there is no program " + words[0]);

  const std::string log = folder.path + "/log";
  environment.set("PTXASW_LOG", log);
  const auto printed = MemoryFile::create();
  if (!printed) return tl::unexpected<std::string>("no memory file");
  Command call{compiler, {words.begin() + 1, words.end()}};
  call.output = call.error = printed->descriptor();
  const auto ended = run(call, environment);
  if (!ended) return tl::unexpected(ended.error());
  return Trial{*ended, printed->content(),
               read_regular_file(log, std::size_t{1} << 24).value_or("")};
}

std::string describe_calls(const std::string& log) {
  std::string text;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto call = nlohmann::json::parse(line, nullptr, false);
    if (call.is_discarded()) continue;
    text += fmt::format("  ptxasw {}, then {} ({}): {}{}{}\n", call.value("ptxasw", ""),
                        call.value("ptxas", ""), call.value("ptxas_version", "unknown version"),
                        call.value("action", ""), call.contains("reason") ? ", because " : "",
                        call.value("reason", ""));
  }
  return text;
}

bool is_build_tool(const std::string& program) {
  static constexpr std::array<std::string_view, 8> tools{"cmake", "make",  "gmake", "ninja",
                                                         "meson", "bazel", "scons", "xmake"};
  return std::ranges::find(tools, fs::path(program).filename().string()) != tools.end();
}

constexpr std::string_view of_a_build =
    "Whether a build goes through it, whose settings are elsewhere, its log tells:\n"
    "  PTXASW_LOG=$PWD/log.json cmake --build FOLDER --clean-first   # a line for each file\n";

std::string advice(const std::vector<std::string>& command, const std::string& self) {
  std::string text;
  if (mentions(command, "lto"))
    text += "Link-time optimization assembles inside nvlink; no ptxas is called. Leave it out.\n";
  if (mentions(command, "ccache") || mentions(command, "sccache"))
    text +=
        "A compiler cache may have answered; try without it, and set CCACHE_EXTRAFILES=" + self +
        ".\n";
  for (const char* name : {"nvcc", "flang", "openmp", "clang", "gcc"})
    if (const Hook* hook = find_hook(name); hook && mentions(command, name))
      return text + describe(*hook, self);
  return text + list_hooks();
}

} // namespace

SelfTestResult self_test(const std::vector<std::string>& command, Environment environment) {
  if (command.empty()) return {2, "name the compiler command to test\n"};
  if (is_build_tool(command[0]))
    return {2, fmt::format("{} is a build tool: give the compiler, as ptxasw self-test -- nvcc "
                           "OPTIONS...\n{}",
                           command[0], of_a_build)};
  const auto trial = attempt(command, std::move(environment));
  if (!trial) return {2, trial.error() + "\n"};
  const std::string self = own_program_file();
  if (!trial->log.empty()) {
    const std::string failed =
        trial->ended.ok() ? "" : "(The command failed later on:)\n" + trial->printed;
    return {0, "yes: this command runs ptxasw\n" + describe_calls(trial->log) + failed};
  }
  if (!trial->ended.ok())
    return {2, "the command failed before it ran any ptxas of ours:\n" + trial->printed};
  return {1, fmt::format("no: the command worked, but not through ptxasw\n{}{}",
                         advice(command, self), of_a_build)};
}

} // namespace ptxasw::driver
