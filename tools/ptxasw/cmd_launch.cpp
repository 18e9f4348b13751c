// ptxasw launch: runs a program with the launcher between it and its CUDA driver.
#include "driver/files.hpp"
#include "options.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace ptxasw::tool {
namespace {

constexpr std::string_view library_name = "libptxasw_launch.so";
constexpr int cannot_run = 127;

constexpr std::string_view usage = R"(usage: ptxasw launch [OPTIONS] -- PROGRAM ARGUMENTS...

Runs a program that was built with --variants (nvcc --ptxas-prefix=ptxasw and
PTXASW_FLAGS=--variants, for instance), and lets each launch of a kernel run the variant that
suits it. Results stay the same, bit for bit. Any other program runs as it does without.

  --policy=model     the variant that the model predicts to be fastest, for the grid, the block and
                     the chip of the launch (the default)
  --policy=measure   try the variants, keep the fastest, also for the next run
                     ($XDG_CACHE_HOME/ptxasw/launches); kernels whose threads do not meet are tried
                     in blocks of other shapes, too. Behind the first six launches of a shape its
                     trials cost one per cent of its time at most, so short programs try little
  --policy=NAME      the variant of this name wherever there is one: original, x:4, y:8,
                     block:32x8x1, ...
  --report[=FILE]    at exit, a table of kernels and launches with measured times and gains; .json
                     and .html by the name of the file
  --check[=N]        run all variants of every launch (every N-th) on the same memory; stop with
                     exit code 86 where a byte differs
  --steps            launches that iterate a stencil may become fewer that do several steps each, of
                     kernels that were built with such entries
  --early            launches behind one another in a stream may begin before the one in front has
                     ended, of kernels that were built for that (sm_90 and later)
  --batch            launches that come in the same order again and again may go out together, where
                     that is seen to be faster
  --log              say what is found and decided, on standard error
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

} // namespace

int launch(Arguments arguments) {
  std::string settings = "on";
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with("--"); ++at) {
    const std::string word = arguments[at].substr(2);
    if (word.empty()) {
      ++at;
      break;
    }
    const std::string name = word.substr(0, word.find('='));
    if (name == "help" ||
        (name != "policy" && name != "report" && name != "check" && name != "log" &&
         name != "steps" && name != "early" && name != "batch")) {
      fmt::print(name == "help" ? stdout : stderr, "{}", usage);
      return name == "help" ? 0 : 2;
    }
    settings += "," + word;
  }
  if (at >= arguments.size()) {
    fmt::print(stderr, "{}", usage);
    return 2;
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
  ::setenv("LD_PRELOAD", all.c_str(), 1);
  ::setenv("PTXASW_LAUNCH", settings.c_str(), 1);
  std::vector<char*> words;
  for (; at < arguments.size(); ++at)
    words.push_back(arguments[at].data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  fmt::print(stderr, "ptxasw launch: {}: cannot be run\n", words[0]);
  return cannot_run;
}

} // namespace ptxasw::tool
