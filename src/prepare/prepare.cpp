// The four steps, each with its reasons.
#include "prepare/prepare.hpp"

#include "image/compiled.hpp"
#include "image/entry.hpp"
#include "image/linked.hpp"
#include "prepare/alone.hpp"
#include "prepare/contracts.hpp"
#include "prepare/driver_compiler.hpp"
#include "prepare/nvlink.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/versions.hpp"
#include "sass/same_function.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <set>

namespace ptxasw::prepare {
namespace {

using image::Prepared;
using image::PreparedKernel;
using image::Reason;
using sass::Cubin;

// What is known of an image before ptxas is asked.
struct Opened {
  std::string chip; // of its machine code: "sm_90a"
  std::string text, code;
  std::vector<std::string> options; // of ptxas
  std::string release;              // of the ptxas that made it
  bool is_text = false;             // PTX by itself: `code` is what ptxas makes of it
  bool is_linked = false;           // `code` is what the driver's linker made of it
};

// Entries beside the kernel that are there.
std::uint32_t versions_in(const contract::Contract& contract,
                          const std::set<std::string>& kernels) {
  std::set<std::string> entries;
  for (const contract::Variant& variant : contract.variants)
    if (variant.entry != contract.kernel) entries.insert(variant.entry);
  for (const contract::Steps& steps : contract.steps)
    entries.insert(steps.entry);
  for (const contract::Sequence& sequence : contract.sequences)
    entries.insert(sequence.entry);
  return static_cast<std::uint32_t>(std::ranges::count_if(
      entries, [&](const std::string& entry) { return kernels.contains(entry); }));
}

bool names(const contract::Contract& contract, const std::string& entry) {
  const auto is_there = [&](const auto& all) {
    return std::ranges::any_of(all, [&](const auto& one) { return one.entry == entry; });
  };
  return is_there(contract.variants) || is_there(contract.steps) || is_there(contract.sequences);
}

std::string why_none(const Report& report, std::string_view name) {
  const auto kernel = std::ranges::find(report.kernels, name, &KernelReport::name);
  if (kernel == report.kernels.end()) return {};
  if (!kernel->left_alone.empty()) return kernel->left_alone.text;
  return kernel->coarsening.text;
}

class Preparation {
public:
  Preparation(image::Bytes image, const Conditions& conditions)
      : image_(image), conditions_(conditions) {
    result_.chip = conditions.chip;
    result_.made_by = conditions.made_by;
    result_.when = std::time(nullptr);
    if (conditions.tool) result_.assembler = conditions.tool->release;
  }

  Prepared look() {
    (void)open();
    return std::move(result_);
  }

  Prepared run() {
    if (open() && assemble_again()) add_versions();
    return std::move(result_);
  }

private:
  // Says no, also of each kernel of which nothing was said.
  bool no(Reason reason, const std::string& more = {}) {
    result_.reason = reason;
    for (PreparedKernel& kernel : result_.kernels)
      if (kernel.versions == 0 && kernel.reason == Reason::none) kernel.reason = reason;
    result_.words = image::words(reason, conditions_.chip);
    if (!more.empty()) result_.words += ": " + more;
    return false;
  }

  bool open() {
    const auto chip = image::chip_of(conditions_.chip);
    if (!chip) return no(Reason::no_code);
    if (const auto linked = image::unpacked(image_)) return open_linked(*linked);
    if (image_.size() >= sizeof(std::uint32_t) &&
        image::form_of(image_.data()) == image::Form::text)
      // As a launcher hands it over: without the zero that ends it.
      return open_text(std::string(image::words_of(image_)));
    const image::Choice choice = image::choose(image::probe(image_), *chip);
    if (choice.code) {
      auto code = image::body_of(*choice.code);
      if (!code) return no(code.error());
      opened_.code = std::move(*code);
      opened_.chip = image::name_of(choice.code->chip);
      list_kernels(opened_.code);
      const Contracts contracts = contracts_of(Cubin(opened_.code));
      if (!contracts.empty()) return built_in(contracts);
    }
    if (choice.reason != Reason::none) return no(choice.reason);
    if (choice.code && result_.kernels.empty()) return no(Reason::no_kernels);
    auto text = image::body_of(*choice.text);
    if (!text) return no(text.error());
    if (!choice.code) return open_text(std::move(*text));
    if (text->find(".version") == std::string::npos) return no(Reason::unreadable);
    opened_.text = std::move(*text);
    return read_options(choice.text->options);
  }

  void list_kernels(const std::string& cubin) {
    for (std::string& name : sass::kernels_of(Cubin(cubin)))
      result_.kernels.push_back({.name = std::move(name), .words = {}});
  }

  // For the driver to compile.
  bool open_text(std::string text) {
    opened_.is_text = true;
    opened_.text = std::move(text);
    if (opened_.text.find(".version") == std::string::npos) return no(Reason::unreadable);
    opened_.chip = chip_for(opened_.text, conditions_.chip);
    return true;
  }

  // The options are the program's for its linker. They are read as those of a note are.
  bool open_linked(const image::Linked& linked) {
    opened_.is_linked = true;
    opened_.text = linked.text;
    opened_.code = linked.cubin;
    list_kernels(opened_.code);
    if (result_.kernels.empty()) return no(Reason::no_kernels);
    if (opened_.text.find(".version") == std::string::npos) return no(Reason::unreadable);
    if (const Contracts contracts = contracts_of(Cubin(opened_.code)); !contracts.empty())
      return built_in(contracts);
    opened_.chip = chip_for(opened_.text, conditions_.chip);
    if (const auto note = sass::tool_note(Cubin(opened_.code)))
      opened_.release = release_in(note->release);
    const std::string words = fmt::format("{} -arch {}", linked.options, opened_.chip);
    auto options =
        repeated_options({.tool = "ptxas", .release = "", .options = words}, opened_.chip);
    if (!options) return no(options.error(), words);
    opened_.options = std::move(*options);
    return true;
  }

  // Its entries are no kernels of the program's.
  bool built_in(const Contracts& contracts) {
    std::set<std::string> all;
    for (const PreparedKernel& kernel : result_.kernels)
      all.insert(kernel.name);
    std::erase_if(result_.kernels, [&](const PreparedKernel& kernel) {
      return std::ranges::any_of(contracts, [&](const auto& named) {
        return kernel.name != named.first && names(named.second, kernel.name);
      });
    });
    std::size_t with_versions = 0;
    for (PreparedKernel& kernel : result_.kernels) {
      const auto found = contracts.find(kernel.name);
      if (found != contracts.end()) kernel.versions = versions_in(found->second, all);
      with_versions += kernel.versions != 0 ? 1 : 0;
      if (kernel.versions == 0) kernel.reason = Reason::no_versions;
    }
    return no(Reason::built_in, fmt::format("{} of {} kernel{}", result_.versions(), with_versions,
                                            with_versions == 1 ? "" : "s"));
  }

  // Those of the note. Machine code of CUDA before 12.8 has none; then those that nvcc has left
  // beside the PTX. That they are the right ones is seen where they give the same machine code.
  bool read_options(std::string_view beside_text) {
    const auto note = sass::tool_note(Cubin(opened_.code));
    if (note) opened_.release = release_in(note->release);
    const std::string words = fmt::format("{} -arch {}", beside_text, opened_.chip);
    auto options = repeated_options(
        note.value_or(sass::ToolNote{.tool = "ptxas", .release = "", .options = words}),
        opened_.chip);
    if (!options) return no(options.error(), std::string(note ? note->options : beside_text));
    opened_.options = std::move(*options);
    return true;
  }

  // Makes the image's machine code of its text again, and whatever else that takes. None: there is
  // no linker for one that was linked.
  [[nodiscard]] std::unique_ptr<Repeated> compiler() const {
    const Tool& tool = *conditions_.tool;
    if (!opened_.is_linked) return std::make_unique<Repeated>(tool, opened_.chip, opened_.options);
    auto nvlink = find_nvlink(tool.program);
    if (!nvlink) return nullptr;
    return std::make_unique<RepeatedAndLinked>(tool, std::move(*nvlink), opened_.chip,
                                               opened_.options);
  }

  bool assemble_again() {
    if (!conditions_.tool) return no(Reason::no_ptxas);
    const auto ptxas = compiler();
    if (ptxas == nullptr) return no(Reason::no_linker);
    const auto again =
        ptxas->assemble({.text = opened_.text, .purpose = AssemblyRequest::Purpose::original});
    if (ptxas->stopped_by() != 0) throw Interrupted{ptxas->stopped_by()};
    if (!again) return no(Reason::not_assembled, ptxas->refusal());
    if (opened_.is_text) return compile_as_driver(again->cubin);
    const std::string& here = conditions_.tool->release;
    const bool is_other = opened_.release != here;
    std::string more;
    if (!opened_.release.empty() && is_other) more = fmt::format("made by {}, ", opened_.release);
    if (is_other) more += fmt::format("here is {}", here);
    return holds_all(again->cubin,
                     opened_.is_linked         ? Reason::other_compiler
                     : opened_.release.empty() ? Reason::no_note
                     : is_other                ? Reason::other_release
                                               : Reason::machine_code,
                     more);
  }

  // Of a text: what a driver would make of it, where its compiler is this one.
  bool compile_as_driver(const std::string& cubin) {
    opened_.code = cubin;
    list_kernels(cubin);
    if (result_.kernels.empty()) return no(Reason::no_kernels);
    const auto by_linker = linked(*conditions_.tool, opened_.chip, {.text = opened_.text});
    if (!by_linker) return no(by_linker.error());
    result_.linked = image::fingerprint(*by_linker);
    const std::string why = why_rounded_otherwise(*conditions_.tool, opened_.chip, opened_.text);
    return why.empty() || no(Reason::rounding, why);
  }

  // Every function of the image is in `cubin` as it was.
  bool holds_all(const std::string& cubin, Reason otherwise, const std::string& more) {
    const auto other = sass::differences(Cubin(opened_.code), Cubin(cubin));
    if (other.empty()) return true;
    for (PreparedKernel& kernel : result_.kernels) {
      const auto found = other.find(kernel.name);
      kernel.reason = otherwise;
      kernel.words = found != other.end() ? found->second
                                          : "not of this kernel; but nothing is replaced where one "
                                            "function of an image differs";
    }
    const auto& [name, why] = *other.begin();
    return no(otherwise, fmt::format("{}{}{}{}", more, more.empty() ? "" : "; ",
                                     name.empty() ? name : name + ": ", why));
  }

  void add_versions() {
    Options options = conditions_.options;
    options.architecture = opened_.chip;
    options.details = false;
    const auto ptxas = compiler();
    if (ptxas == nullptr) {
      no(Reason::no_linker);
      return;
    }
    const Optimized made = with_versions(opened_.text, "image.ptx", options, *ptxas);
    if (ptxas->stopped_by() != 0) throw Interrupted{ptxas->stopped_by()};
    if (!made.changed || ptxas->kept().empty()) {
      no(Reason::no_versions);
      tell(made.report, {}, {});
      return;
    }
    const Cubin cubin(ptxas->kept());
    const std::vector<std::string> all = sass::kernels_of(cubin);
    const std::set<std::string> kernels(all.begin(), all.end());
    if (!holds_all(ptxas->kept(), Reason::changed, {})) return;
    tell(made.report, contracts_of(cubin), kernels);
    if (result_.versions() == 0) {
      no(Reason::no_versions);
    } else if (kernels.size() != result_.kernels.size() + result_.versions()) {
      no(Reason::changed, "it has kernels that no contract names"); // a launcher counts on that
    } else if (ptxas->kept().size() > store::largest_entry / 2) {
      no(Reason::too_large);
    } else {
      result_.cubin = ptxas->kept();
    }
  }

  // What came of each kernel.
  void tell(const Report& report, const Contracts& contracts,
            const std::set<std::string>& kernels) {
    std::set<std::string> alone; // of an image with versions
    if (!contracts.empty()) alone = kernels_alone(ptx::parse(opened_.text));
    for (PreparedKernel& kernel : result_.kernels) {
      const auto contract = contracts.find(kernel.name);
      if (contract != contracts.end()) kernel.versions = versions_in(contract->second, kernels);
      kernel.is_alone = alone.contains(kernel.name);
      if (kernel.versions != 0) continue;
      kernel.reason = Reason::no_versions;
      kernel.words = why_none(report, kernel.name);
    }
  }

  image::Bytes image_;
  const Conditions& conditions_;
  Opened opened_;
  Prepared result_;
};

} // namespace

Options usual_options() {
  Options options;
  options.variants = true;
  options.steps_auto = true;
  return options;
}

Prepared prepare(image::Bytes image, const Conditions& conditions) {
  return Preparation(image, conditions).run();
}

Prepared look_at(image::Bytes image, const Conditions& conditions) {
  return Preparation(image, conditions).look();
}

} // namespace ptxasw::prepare
