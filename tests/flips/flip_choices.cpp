// Is every wrong choice of a multiply-add noticed? Flips one at a time.
//
//   flip_choices [--pins] PTXAS ARCHITECTURE FILE.ptx...
//
// Pins each kernel to what ptxas fuses in it, then gives each of its sums in turn another choice
// and asks for the verification of the pinned text (passes/pin_fma/search.hpp): what it lets
// pass must have the machine code of the original. A line for each file: sums, flips that cannot be
// written down, flips with the same machine code, flips that are noticed. Exit code 1 if one is
// not.
//
// --pins: only pins, and prints a line for each kernel with such sums, fields between tabs: file,
// kernel, sums, those fused, "bytes", "operations" or "not", and why not; then for its file: file,
// runs of ptxas, milliseconds. bench/contraction makes tables of both.
#include "driver/ptxas.hpp"
#include "oracle/memoized.hpp"
#include "passes/pin_fma/search.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace ptxasw;
using passes::Pinning;

struct Count {
  unsigned sums = 0, unwritable = 0, same = 0, noticed = 0, escaped = 0;
};

std::vector<std::string> entries(const ptx::Module& module) {
  std::vector<std::string> names;
  for (const ptx::Function& function : module.functions)
    if (function.is_entry && !function.is_declaration) names.emplace_back(function.name);
  return names;
}

// By letter: not fused, or fused with the first or second operand (passes/pin_fma).
std::string others(char choice) {
  constexpr std::string_view first = "fgh", second = "stu";
  if (choice == 'n') return "fs";
  if (first.find(choice) != std::string_view::npos) return "ns";
  if (second.find(choice) != std::string_view::npos) return "nf";
  return "";
}

void flip(const ptx::Module& module, const std::string& kernel, const std::string& choices,
          Assembler& ptxas, Count& count) {
  count.sums += static_cast<unsigned>(choices.size());
  for (std::size_t n = 0; n < choices.size(); ++n)
    for (const char other : others(choices[n])) {
      std::map<std::string, passes::Pinning::Kernel, std::less<>> pins;
      pins[kernel].choices = choices;
      pins[kernel].choices[n] = other;
      const passes::Pinning::Kernel made =
          passes::verify_pins(module, pins, ptxas).kernels.at(kernel);
      if (made.refused.text == "the choices do not fit") {
        ++count.unwritable;
      } else if (!made.refused.empty()) {
        ++count.noticed;
      } else if (made.identical) {
        ++count.same;
      } else {
        ++count.escaped;
        fmt::print("{}: {}: sum {} as {}: not noticed\n", module.file, kernel, n, other);
      }
    }
}

ptx::Module read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return ptx::parse({std::istreambuf_iterator<char>(in), {}}, file);
}

void print_pins(const std::string& file, Assembler& ptxas) {
  const ptx::Module module = read(file);
  oracle::MemoizedAssembler asked(ptxas);
  const auto start = std::chrono::steady_clock::now();
  const passes::Pinning pinned = passes::pin_contractions(module, entries(module), asked);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  for (const auto& [name, kernel] : pinned.kernels) {
    const char* how = kernel.identical ? "bytes" : "operations";
    if (kernel.sites != 0)
      fmt::print("{}\t{}\t{}\t{}\t{}\t{}\n", file, name, kernel.sites, kernel.fused,
                 kernel.refused.empty() ? how : "not", kernel.refused.text);
  }
  fmt::print("{}\t{}\t{:.1f}\n", file, asked.calls(), took.count());
}

Count flip_all(const std::string& file, Assembler& ptxas) {
  const ptx::Module module = read(file);
  Count count;
  oracle::MemoizedAssembler asked(ptxas); // the original
  const passes::Pinning pinned = passes::pin_contractions(module, entries(module), asked);
  for (const auto& [kernel, of] : pinned.kernels)
    if (of.refused.empty() && of.sites != 0) flip(module, kernel, of.choices, asked, count);
  return count;
}

} // namespace

int main(int argc, char** argv) {
  const bool pins_only = argc > 1 && std::string_view(argv[1]) == "--pins";
  const int first = pins_only ? 2 : 1;
  if (argc < first + 3) return 2;
  const std::string architecture = argv[first + 1];
  driver::Ptxas ptxas(argv[first], architecture);
  Count all;
  for (int n = first + 2; n < argc; ++n) {
    const std::string file = argv[n];
    if (pins_only) {
      print_pins(file, ptxas);
      continue;
    }
    const Count count = flip_all(file, ptxas);
    if (count.sums == 0) continue;
    fmt::print("{} {}: {} sums, {} flips unwritable, {} with the same code, {} noticed\n",
               architecture, file.substr(file.rfind('/') + 1), count.sums, count.unwritable,
               count.same, count.noticed);
    std::fflush(stdout);
    all.sums += count.sums;
    all.unwritable += count.unwritable;
    all.same += count.same;
    all.noticed += count.noticed;
    all.escaped += count.escaped;
  }
  if (!pins_only)
    fmt::print("{}: {} sums, {} flips unwritable, {} with the same code, {} noticed, {} not\n",
               architecture, all.sums, all.unwritable, all.same, all.noticed, all.escaped);
  return all.escaped == 0 ? 0 : 1;
}
