// How fast large modules are read, printed, analyzed and optimized: real nvcc output (CUB device
// algorithms, plain, with line tables, with full debug information; and the repository's kernels),
// repeated up to 1 or 10 MB. The aim is 50 MB/s for reading and printing together.
#include "ptx/body.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace {

namespace ptx = ptxasw::ptx;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What nvcc makes of CUB; empty without nvcc.
std::string compile(std::string_view mode) {
  const std::string output =
      (std::filesystem::temp_directory_path() / fmt::format("ptxasw_bench_{}.ptx", getpid()))
          .string();
  for (const char* nvcc : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    const std::string command =
        fmt::format("{} -std=c++17 -w -ptx -arch=sm_90 {} -o '{}' '{}' 2>/dev/null", nvcc, mode,
                    output, PTXASW_SOURCE_DIR "/tests/corpus/cub.cu");
    if (std::system(command.c_str()) != 0) continue; // NOLINT(concurrency-mt-unsafe)
    std::string text = read(output);
    std::filesystem::remove(output);
    return text;
  }
  return {};
}

std::string repository_kernels() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = PTXASW_SOURCE_DIR "/tests/golden/ptx";
  if (std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::string text;
  for (const auto& path : paths)
    text += read(path);
  return text;
}

constexpr std::array<const char*, 4> names{"kernels", "cub", "cub-lineinfo", "cub-debug"};

// One of the texts, made when it is first asked for, repeated up to some megabytes.
std::string text_of(const benchmark::State& state) {
  static std::array<std::string, names.size()> made;
  const auto which = static_cast<std::size_t>(state.range(0));
  constexpr std::array<const char*, names.size()> modes{"", "", "-lineinfo", "-G"};
  if (made[which].empty()) made[which] = which == 0 ? repository_kernels() : compile(modes[which]);
  std::string text;
  const auto size = static_cast<std::size_t>(state.range(1)) << 20;
  while (!made[which].empty() && text.size() < size)
    text += made[which];
  return text;
}

void finish(benchmark::State& state, std::size_t size) {
  state.SetLabel(names[static_cast<std::size_t>(state.range(0))]);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

// Runs `work` on the text; without the text there is nothing to measure.
template <typename Work> void measure(benchmark::State& state, Work work) {
  const std::string text = text_of(state);
  if (text.empty()) {
    state.SkipWithError("no text: nvcc is not installed");
    return;
  }
  work(text);
  finish(state, text.size());
}

void read_text(benchmark::State& state) {
  measure(state, [&](const std::string& text) {
    for (auto _ : state)
      benchmark::DoNotOptimize(ptx::parse(text));
  });
}

void print_text(benchmark::State& state) {
  measure(state, [&](const std::string& text) {
    const ptx::Module module = ptx::parse(text);
    for (auto _ : state)
      benchmark::DoNotOptimize(ptx::print(module));
  });
}

void read_and_print(benchmark::State& state) {
  measure(state, [&](const std::string& text) {
    for (auto _ : state)
      benchmark::DoNotOptimize(ptx::print(ptx::parse(text)));
  });
}

void resolve_bodies(benchmark::State& state) {
  measure(state, [&](const std::string& text) {
    const ptx::Module module = ptx::parse(text);
    for (auto _ : state)
      for (const ptx::Function& function : module.functions)
        benchmark::DoNotOptimize(ptx::resolve(module, function));
  });
}

void analyze_text(benchmark::State& state) {
  ptxasw::Options options;
  options.coarsen_auto = false;
  measure(state, [&](const std::string& text) {
    for (auto _ : state)
      benchmark::DoNotOptimize(ptxasw::analyze(text, "module", options));
  });
}

void optimize_text(benchmark::State& state) {
  ptxasw::Options options;
  options.shuffle = ptxasw::ShuffleMode::all;
  options.coarsen_auto = false;
  measure(state, [&](const std::string& text) {
    for (auto _ : state)
      benchmark::DoNotOptimize(ptxasw::optimize(text, "module", options));
  });
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"text", "MB"})->Unit(benchmark::kMillisecond);
  for (std::int64_t which = 0; which < static_cast<std::int64_t>(names.size()); ++which)
    for (const std::int64_t megabytes : {1, 10})
      benchmark->Args({which, megabytes});
}

BENCHMARK(read_text)->Apply(sizes);
BENCHMARK(print_text)->Apply(sizes);
BENCHMARK(read_and_print)->Apply(sizes);
BENCHMARK(resolve_bodies)->Apply(sizes);

// The whole tool takes longer: only what has neither line tables nor debug information.
void whole_tool(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"text", "MB"})->Unit(benchmark::kMillisecond)->Args({0, 10})->Args({1, 10});
}
BENCHMARK(analyze_text)->Apply(whole_tool);
BENCHMARK(optimize_text)->Apply(whole_tool);

} // namespace
