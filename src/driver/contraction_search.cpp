// All kernels are tried with the same choice at once; those that match are done.
#include "driver/contraction_search.hpp"

#include "driver/assemble.hpp"
#include "driver/machine_code.hpp"

#include <algorithm>

namespace ptxasw::driver {

Assemble assemble_alone(const std::string& ptxas, const std::string& architecture,
                        const Environment& environment) {
  return [=](const std::string& text) -> std::optional<std::string> {
    const auto arguments = [&](const std::string& source, const std::string& cubin) {
      return std::vector<std::string>{"-arch=" + architecture, source, "-o", cubin};
    };
    int interrupted = 0;
    auto assembled = assemble_all(ptxas, environment, {text}, arguments, interrupted);
    if (!assembled.front()) return std::nullopt;
    return std::move(assembled.front()->cubin);
  };
}

std::vector<std::string> held_back_by_contraction(const Report& report) {
  std::vector<std::string> kernels;
  for (const KernelReport& kernel : report.kernels) {
    if (kernel.held_back) {
      kernels.push_back(kernel.name);
    }
  }
  return kernels;
}

std::map<std::string, Contraction> find_contractions(const std::string& text,
                                                     const std::string& file,
                                                     const std::vector<std::string>& kernels,
                                                     const Assemble& assemble) {
  std::map<std::string, Contraction> found;
  const auto original = assemble(text);
  if (!original) return found;
  const auto expected = machine_code(*original);
  std::vector<std::string> open = kernels;
  std::erase_if(open, [&](const std::string& kernel) { return !expected.contains(kernel); });
  for (const Contraction choice : {Contraction::first, Contraction::none, Contraction::second}) {
    if (open.empty()) break;
    std::map<std::string, Contraction> choices;
    for (const std::string& kernel : open)
      choices.emplace(kernel, choice);
    const auto cubin = assemble(pin_contraction(text, file, choices));
    if (!cubin) continue;
    const auto code = machine_code(*cubin);
    std::erase_if(open, [&](const std::string& kernel) {
      const auto got = code.find(kernel);
      const bool same = got != code.end() && got->second == expected.at(kernel);
      if (same) found.emplace(kernel, choice);
      return same;
    });
  }
  return found;
}

} // namespace ptxasw::driver
