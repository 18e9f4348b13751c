// All kernels are tried with the same choice at once; those that match are done.
#include "pipeline/contraction_search.hpp"

#include "machine/machine_code.hpp"
#include "rewrite/contraction.hpp"

#include <algorithm>
#include <exception>
#include <iterator>

namespace ptxasw::pipeline {

std::string pin_contraction(const std::string& text, const std::string& file,
                            const Contractions& choices) {
  try {
    const ptx::Module module = ptx::parse(text, file);
    std::vector<ptx::Edit> edits;
    for (const ptx::Function& function : module.functions) {
      const auto choice = choices.find(std::string(function.name));
      if (function.is_declaration || choice == choices.end()) continue;
      const ptx::Body body = ptx::resolve(module, function);
      if (body.usable)
        std::ranges::move(rewrite::pin(body, choice->second), std::back_inserter(edits));
    }
    return ptx::print(module, edits);
  } catch (const std::exception&) {
    return text; // unpinned: the comparison of code decides what that means
  }
}

Contractions find_contractions(const std::string& text, const std::string& file,
                               const std::vector<std::string>& kernels, Assembler& assembler) {
  Contractions found;
  const auto original = assembler.assemble({.text = text, .entries = kernels});
  if (!original) return found;
  const auto expected = machine::machine_code(original->cubin);
  std::vector<std::string> open = kernels;
  std::erase_if(open, [&](const std::string& kernel) { return !expected.contains(kernel); });
  for (const Contraction choice : {Contraction::first, Contraction::none, Contraction::second}) {
    if (open.empty()) break;
    Contractions choices;
    for (const std::string& kernel : open)
      choices.emplace(kernel, choice);
    const auto pinned =
        assembler.assemble({.text = pin_contraction(text, file, choices), .entries = kernels});
    if (!pinned) continue;
    const auto code = machine::machine_code(pinned->cubin);
    std::erase_if(open, [&](const std::string& kernel) {
      const auto got = code.find(kernel);
      const bool same = got != code.end() && got->second == expected.at(kernel);
      if (same) found.emplace(kernel, choice);
      return same;
    });
  }
  return found;
}

} // namespace ptxasw::pipeline
