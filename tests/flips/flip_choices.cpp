// Is every wrong choice of a multiply-add noticed? Flips one at a time.
//
//   flip_choices PTXAS ARCHITECTURE FILE.ptx...
//
// Pins each kernel to what ptxas fuses in it, then gives each of its sums in turn another choice
// and asks for the verification of the pinned text (pipeline/contraction_search.hpp): what it lets
// pass must have the machine code of the original. A line for each file: sums, flips that cannot be
// written down, flips with the same machine code, flips that are noticed. Exit code 1 if one is
// not.
#include "driver/ptxas.hpp"
#include "pipeline/asked.hpp"
#include "pipeline/contraction_search.hpp"
#include "ptx/parse.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace ptxasw;
using pipeline::Pinning;

struct Count {
  unsigned sums = 0, unwritable = 0, same = 0, noticed = 0, escaped = 0;
};

std::vector<std::string> entries(const std::string& text, const std::string& file) {
  std::vector<std::string> names;
  const ptx::Module module = ptx::parse(text, file);
  for (const ptx::Function& function : module.functions)
    if (function.is_entry && !function.is_declaration) names.emplace_back(function.name);
  return names;
}

// By letter: not fused, or fused with the first or second operand (contraction_search.cpp).
std::string others(char choice) {
  constexpr std::string_view first = "fgh", second = "stu";
  if (choice == 'n') return "fs";
  if (first.find(choice) != std::string_view::npos) return "ns";
  if (second.find(choice) != std::string_view::npos) return "nf";
  return "";
}

void flip(const std::string& text, const std::string& file, const std::string& kernel,
          const std::string& choices, Assembler& ptxas, Count& count) {
  count.sums += static_cast<unsigned>(choices.size());
  for (std::size_t n = 0; n < choices.size(); ++n)
    for (const char other : others(choices[n])) {
      std::map<std::string, Pinning::Kernel, std::less<>> pins;
      pins[kernel].choices = choices;
      pins[kernel].choices[n] = other;
      const Pinning::Kernel made =
          pipeline::verify_pins(text, file, pins, ptxas).kernels.at(kernel);
      if (made.refused == "the choices do not fit") {
        ++count.unwritable;
      } else if (!made.refused.empty()) {
        ++count.noticed;
      } else if (made.identical) {
        ++count.same;
      } else {
        ++count.escaped;
        fmt::print("{}: {}: sum {} as {}: not noticed\n", file, kernel, n, other);
      }
    }
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  driver::Ptxas ptxas(argv[1], argv[2]);
  Count all;
  for (int n = 3; n < argc; ++n) {
    std::ifstream in(argv[n], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}}, file = argv[n];
    Count count;
    pipeline::AskedOnce asked(ptxas); // the original
    const Pinning pinned = pipeline::pin_contractions(text, file, entries(text, file), asked);
    for (const auto& [kernel, of] : pinned.kernels)
      if (of.refused.empty() && of.sites != 0) flip(text, file, kernel, of.choices, asked, count);
    if (count.sums == 0) continue;
    fmt::print("{} {}: {} sums, {} flips unwritable, {} with the same code, {} noticed\n", argv[2],
               file.substr(file.rfind('/') + 1), count.sums, count.unwritable, count.same,
               count.noticed);
    std::fflush(stdout);
    all.sums += count.sums;
    all.unwritable += count.unwritable;
    all.same += count.same;
    all.noticed += count.noticed;
    all.escaped += count.escaped;
  }
  fmt::print("{}: {} sums, {} flips unwritable, {} with the same code, {} noticed, {} not\n",
             argv[2], all.sums, all.unwritable, all.same, all.noticed, all.escaped);
  return all.escaped == 0 ? 0 : 1;
}
