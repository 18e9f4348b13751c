// What each phase costs on the kernels of suites K and S: parse, print, analyze, optimize. The PTX
// is the repository's own, so the numbers need no compiler; ptxas takes 10 to 30 ms on such a file.
#include "ptx/parse.hpp"
#include "ptxasw/ptxasw.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr std::array kernels{"divergence", "gameoflife", "gaussblur",  "gradient",   "jacobi",
                             "lapgsrb",    "laplacian",  "matmul",     "matvec",     "sincos",
                             "tricubic",   "tricubic2",  "uxx1",       "vecadd",     "wave13pt",
                             "whispering", "hypterm",    "derivative", "rhs4th3fort"};

std::string read(const std::string& kernel) {
  std::ifstream file(std::string(PTXASW_SOURCE_DIR "/tests/golden/ptx/") + kernel + ".ptx",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void finish(benchmark::State& state, const std::string& text) {
  if (text.empty()) state.SkipWithError("the PTX is missing");
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void parse(benchmark::State& state, const std::string& kernel) {
  const std::string text = read(kernel);
  for (auto _ : state)
    benchmark::DoNotOptimize(ptxasw::ptx::parse(text));
  finish(state, text);
}

void print(benchmark::State& state, const std::string& kernel) {
  const std::string text = read(kernel);
  const ptxasw::ptx::Module module = ptxasw::ptx::parse(text);
  for (auto _ : state)
    benchmark::DoNotOptimize(ptxasw::ptx::print(module));
  finish(state, text);
}

// Of reuse between lanes: no ways to coarsen are listed.
void analyze(benchmark::State& state, const std::string& kernel) {
  const std::string text = read(kernel);
  ptxasw::Options options;
  options.coarsen_auto = false;
  for (auto _ : state)
    benchmark::DoNotOptimize(ptxasw::analyze(text, kernel, options));
  finish(state, text);
}

void optimize(benchmark::State& state, const std::string& kernel) {
  const std::string text = read(kernel);
  ptxasw::Options options;
  options.shuffle = ptxasw::ShuffleMode::all;
  options.coarsen_auto = false;
  unsigned covered = 0;
  for (auto _ : state) {
    const ptxasw::Optimized result = ptxasw::optimize(text, kernel, options);
    covered = 0;
    for (const ptxasw::KernelReport& k : result.report.kernels)
      covered += k.covered;
  }
  state.counters["covered"] = covered;
  finish(state, text);
}

const bool registered = [] {
  using Phase = void (*)(benchmark::State&, const std::string&);
  const std::array<std::pair<const char*, Phase>, 4> phases{
      {{"parse/", parse}, {"print/", print}, {"analyze/", analyze}, {"optimize/", optimize}}};
  for (const auto& [name, phase] : phases)
    for (const std::string kernel : kernels)
      benchmark::RegisterBenchmark((name + kernel).c_str(), phase, kernel)
          ->Unit(benchmark::kMillisecond);
  return true;
}();

} // namespace
