// The text is spread so that no line has two instructions, and read, pinned and compared by lines.
#include "passes/pin_fma/search.hpp"

#include "passes/pin_fma/recovery.hpp"
#include "passes/shared/spread.hpp"
#include "passes/shared/value_numbers.hpp"
#include "ptx/edited.hpp"
#include "sass/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

namespace ptxasw::passes {

namespace {

constexpr std::size_t most_steps = 1'000'000'000; // sites times instructions

// A module with those of its functions that are to be pinned.
struct Text {
  struct Function {
    ptx::Body body;
    std::unique_ptr<Reaching> reaching;
    std::vector<Site> sites;
  };
  const ptx::Module& module;
  std::map<std::string, Function, std::less<>> functions; // which stay where they are

  Text(const ptx::Module& text, const std::vector<std::string>& kernels) : module(text) {
    for (const ptx::Function& function : module.functions) {
      if (function.is_declaration || std::ranges::count(kernels, function.name) == 0) continue;
      ptx::Body body = ptx::resolve(module, function);
      if (!body.usable) continue;
      Function& made = functions[std::string(function.name)];
      made.body = std::move(body);
      made.reaching = std::make_unique<Reaching>(made.body);
      made.sites = find_sites(made.body, *made.reaching);
    }
  }

  [[nodiscard]] ptx::Edited pinned(const std::map<std::string, FuseChoices>& choices) const {
    std::vector<ptx::Edit> edits;
    for (const auto& [name, of_kernel] : choices) {
      const Function& f = functions.find(name)->second;
      std::ranges::move(passes::pin(f.body, *f.reaching, f.sites, of_kernel),
                        std::back_inserter(edits));
    }
    return ptx::edited(module, edits);
  }
};

// Half-precision scalars are packed in pairs, whose lines are lost: only equal bytes count there.
bool has_halves(const Text::Function& function) {
  return std::ranges::any_of(function.sites, [&](const Site& site) {
    const ptx::Type type = function.body.insts[site.sum].mods.type;
    return type != ptx::Type::f32 && type != ptx::Type::f64;
  });
}

Why not_pinned(std::string why) {
  return why.empty() ? Why{} : Why{Reason::fusing_unknown, std::move(why)};
}

// Why two codes that are not the same bytes do not compute the same; empty if they do.
std::string difference(const Text::Function& function, const sass::Code& original,
                       const sass::Code& pinned, bool certain) {
  if (!certain) return "the machine code does not tell which products are fused";
  if (has_halves(function)) return "half-precision code is not the same bytes when pinned";
  for (const sass::Code* code : {&original, &pinned})
    if (!code->unknown().empty()) return code->unknown();
  const auto equal = congruent_lines(function.body, *function.reaching);
  const sass::LineMap line = [&](std::uint32_t of) {
    const auto twin = equal.find(of);
    return twin == equal.end() ? of : twin->second;
  };
  const auto before = sass::operations(original, line), after = sass::operations(pinned, line);
  for (const auto& [mine, others] : {std::pair(&before, &after), std::pair(&after, &before)})
    for (const std::string& operation : *mine)
      if (!others->contains(operation))
        return fmt::format("pinned, ptxas computes otherwise: {}", operation);
  std::set<std::string> sums;
  for (const Site& site : function.sites)
    sums.insert(fmt::format("{}:", line(opcode_line(function.body, site.sum))));
  for (const std::string& operation : before)
    if (operation.find('?') != std::string::npos &&
        sums.contains(operation.substr(0, operation.find(':') + 1)))
      return fmt::format("not all operands are known: {}", operation);
  return {};
}

// Letters for choices, by what is fused and which factor carries a sign (-1, 0, 1).
constexpr std::string_view letters = "nnnfghstu";

std::string written(const std::vector<Site>& sites, const FuseChoices& choices) {
  std::string text;
  for (const Site& site : sites) {
    const FuseChoice& choice = choices.at(site.sum);
    text += letters[3 * static_cast<unsigned>(choice.fuse) +
                    static_cast<unsigned>(choice.negated_factor + 1)];
  }
  return text;
}

std::optional<FuseChoices> read_choices(const std::vector<Site>& sites, std::string_view text) {
  if (text.size() != sites.size()) return std::nullopt;
  FuseChoices choices;
  for (std::size_t n = 0; n < sites.size(); ++n) {
    const std::size_t at = letters.find(text[n]);
    if (at == std::string_view::npos) return std::nullopt;
    const FuseChoice choice{static_cast<FuseChoice::Fuse>(at / 3), static_cast<int>(at % 3) - 1};
    const bool writable = choice.fuse == FuseChoice::Fuse::none ||
                          sites[n].product[choice.fuse == FuseChoice::Fuse::first ? 0 : 1];
    if (!writable) return std::nullopt;
    choices.emplace(sites[n].sum, choice);
  }
  return choices;
}

void take_text(ptx::Edited made, const ptx::Module& original, Pinning& into) {
  if (*made.module.text == *original.text) return;
  into.reads = made.read_again ? 1 : 0;
  into.module = std::move(made.module);
}

class Pinner {
public:
  Pinner(const ptx::Module& module, const std::vector<std::string>& kernels, Assembler& assembler,
         const std::vector<std::string>& beside = {})
      : original_(module, kernels), in_lines_(spread(module)), lines_(in_lines_, kernels),
        kernels_(kernels), all_(kernels), assembler_(assembler) {
    std::ranges::copy_if(beside, std::back_inserter(all_), [&](const std::string& kernel) {
      return std::ranges::count(kernels, kernel) == 0;
    });
    for (const std::string& kernel : kernels) {
      const auto found = lines_.functions.find(kernel);
      Pinning::Kernel& of = result_.kernels[kernel];
      if (found == lines_.functions.end() || !original_.functions.contains(kernel)) {
        of.refused = not_pinned("it cannot be read");
      } else if (found->second.sites.size() * found->second.body.insts.size() > most_steps) {
        of.refused = not_pinned("it is too large");
      } else {
        of.sites = static_cast<unsigned>(found->second.sites.size());
      }
    }
  }

  // `given`: choices that are not recovered.
  Pinning run(const std::map<std::string, Pinning::Kernel, std::less<>>* given = nullptr) {
    const auto before = assemble(*lines_.module.text, kernels_, Purpose::original);
    if (before && given == nullptr) recover_all(*before);
    if (before && given != nullptr) take_all(*given);
    if (!choices_.empty()) {
      const auto after = assemble(*lines_.pinned(choices_).module.text, all_, Purpose::rewritten);
      for (auto& [name, kernel] : result_.kernels) {
        if (!kernel.refused.empty()) continue;
        kernel.refused = not_pinned(after ? verify(name, kernel, *before, *after)
                                          : "the assembler does not take the pinned text");
        if (!kernel.refused.empty())
          choices_.erase(name);
        else
          kernel.choices = written(lines_.functions.find(name)->second.sites, choices_.at(name));
      }
      if (!choices_.empty()) take_text(original_.pinned(choices_), original_.module, result_);
    }
    for (auto& [name, kernel] : result_.kernels)
      if (!before && kernel.refused.empty())
        kernel.refused = not_pinned("the assembler was of no help");
    return std::move(result_);
  }

private:
  using Codes = std::map<std::string, sass::Code, std::less<>>;
  struct Machine {
    std::string cubin;
    Codes codes; // views into it
  };

  using Purpose = AssemblyRequest::Purpose;
  std::unique_ptr<Machine> assemble(const std::string& text,
                                    const std::vector<std::string>& entries, Purpose purpose) {
    auto made = assembler_.assemble(
        {.text = text, .entries = entries, .line_info = true, .purpose = purpose});
    if (!made) return nullptr;
    auto result = std::make_unique<Machine>();
    result->cubin = std::move(made->cubin);
    result->codes = sass::read_code(result->cubin);
    return result;
  }

  void recover_all(const Machine& machine) {
    for (auto& [name, kernel] : result_.kernels) {
      if (!kernel.refused.empty()) continue;
      const auto code = machine.codes.find(name);
      if (code == machine.codes.end()) {
        kernel.refused = not_pinned("there is no machine code of it");
        continue;
      }
      const Text::Function& function = lines_.functions.find(name)->second;
      Recovered found = recover(function.body, *function.reaching, function.sites, code->second);
      kernel.refused = found.refused;
      if (!found.refused.empty()) continue;
      kernel.fused = static_cast<unsigned>(std::ranges::count_if(
          found.choices, [](const auto& c) { return c.second.fuse != FuseChoice::Fuse::none; }));
      certain_[name] = found.certain;
      choices_.emplace(name, std::move(found.choices));
    }
  }

  void take_all(const std::map<std::string, Pinning::Kernel, std::less<>>& given) {
    for (auto& [name, kernel] : result_.kernels) {
      if (!kernel.refused.empty()) continue;
      auto choices =
          read_choices(lines_.functions.find(name)->second.sites, given.find(name)->second.choices);
      certain_[name] = true;
      if (choices)
        choices_.emplace(name, std::move(*choices));
      else
        kernel.refused = not_pinned("the choices do not fit");
    }
  }

  std::string verify(const std::string& name, Pinning::Kernel& kernel, const Machine& before,
                     const Machine& after) const {
    const auto original = before.codes.find(name), pinned = after.codes.find(name);
    if (pinned == after.codes.end()) return "there is no machine code of the pinned text";
    kernel.identical = original->second.bytes() == pinned->second.bytes();
    if (kernel.identical) return {};
    return difference(lines_.functions.find(name)->second, original->second, pinned->second,
                      certain_.at(name));
  }

  Text original_;
  ptx::Module in_lines_; // one instruction in each
  Text lines_;
  const std::vector<std::string>& kernels_;
  std::vector<std::string> all_; // and those beside them
  Assembler& assembler_;
  Pinning result_;
  std::map<std::string, FuseChoices> choices_;
  std::map<std::string, bool> certain_;
};

} // namespace

Pinning pin_contractions(const ptx::Module& module, const std::vector<std::string>& kernels,
                         Assembler& assembler, const std::vector<std::string>& beside) {
  try {
    return Pinner(module, kernels, assembler, beside).run();
  } catch (const std::exception& error) {
    Pinning none;
    for (const std::string& kernel : kernels)
      none.kernels[kernel].refused = not_pinned(error.what());
    return none;
  }
}

Pinning verify_pins(const ptx::Module& module,
                    const std::map<std::string, Pinning::Kernel, std::less<>>& pins,
                    Assembler& assembler) {
  std::vector<std::string> kernels;
  for (const auto& [name, pin] : pins)
    kernels.push_back(name);
  return Pinner(module, kernels, assembler).run(&pins);
}

std::optional<Pinning>
pin_as_remembered(const ptx::Module& module,
                  const std::map<std::string, Pinning::Kernel, std::less<>>& pins) {
  std::vector<std::string> kernels;
  for (const auto& [name, pin] : pins)
    kernels.push_back(name);
  const Text original(module, kernels);
  std::map<std::string, FuseChoices> choices;
  Pinning result{.kernels = pins};
  for (auto& [name, pin] : result.kernels) {
    const auto function = original.functions.find(name);
    if (function == original.functions.end()) return std::nullopt;
    auto read = read_choices(function->second.sites, pin.choices);
    if (!read) return std::nullopt;
    pin.sites = static_cast<unsigned>(read->size());
    choices.emplace(name, std::move(*read));
  }
  take_text(original.pinned(choices), module, result);
  return result;
}

} // namespace ptxasw::passes
