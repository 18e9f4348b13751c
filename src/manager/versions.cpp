// Makes the forms of each kernel, keeps the sound ones, and writes entries and contracts.
#include "manager/versions.hpp"

#include "emulator/emulate.hpp"
#include "manager/entry_text.hpp"
#include "manager/kernel_job.hpp"
#include "manager/profile_of.hpp"
#include "manager/version_candidates.hpp"
#include "oracle/validation.hpp"
#include "passes/coarsen/pass.hpp"
#include "passes/coarsen/search/search.hpp"
#include "passes/launch_early/launch_early.hpp"
#include "passes/pin_fma/search.hpp"
#include "passes/remap/pass.hpp"
#include "passes/remap/remap_find.hpp"
#include "passes/remap/reshape.hpp"
#include "passes/remap/reshape_find.hpp"
#include "passes/shared/accesses.hpp"
#include "passes/shared/apply.hpp"
#include "passes/shared/contraction_latitude.hpp"
#include "passes/shared/function_facts.hpp"
#include "passes/shared/parameter_places.hpp"
#include "passes/time_tile/entries.hpp"
#include "ptx/body.hpp"
#include "ptx/parse.hpp"
#include "ptx/written.hpp"
#include "words/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace ptxasw::manager {
namespace {

using contract::Contract;
using contract::Kind;
using contract::Rest;
using contract::Variant;

// What a kernel may become, if that can be kept.
struct Proposal {
  const ptx::Function* kernel = nullptr;
  std::vector<ptx::Edit> edits;
  Variant variant;
  std::vector<Variant> more; // of the same entry
};

// An entry that is to stand beside its kernel.
struct Entry {
  Variant variant;
  std::string text; // empty: an entry before has it
};

Options proposing_remaps(const Options& options) {
  Options result = for_launcher(options);
  result.remaps.push_back({.kind = RemapKind::automatic});
  return result;
}

class Writer {
public:
  // `made`: what the options made of `original`.
  Writer(const oracle::Printed& standard, ptx::Module made, const ptx::Module& original,
         const Options& options, Assembler& assembler, emulator::Emulations& kept, OwnEntries own)
      : changed_(standard.changed), options_(options), assembler_(assembler), kept_(kept),
        own_(own), original_(original), standard_(std::move(made)),
        base_(own == OwnEntries::as_they_came ? original_ : standard_) {}

  std::string run() {
    if (options_.steps_auto || options_.steps != 0)
      steps_ = passes::make_step_entries(
          original_, options_,
          [this](const ptx::Module& module, const std::vector<std::string>& kernels) {
            return pinned_text(module, kernels);
          },
          kept_, assembler_);
    if (options_.variants) add_variants();
    return print();
  }

  // Texts that were read on the way.
  [[nodiscard]] unsigned parses() const { return parses_; }

  // What came of --steps, by kernel.
  [[nodiscard]] std::map<std::string, Decision> step_outcomes() const {
    std::map<std::string, Decision> outcomes;
    for (const auto& [kernel, entries] : steps_)
      outcomes[kernel] = {entries.any() ? Status::done : Status::refused, entries.against,
                          entries.outcome};
    return outcomes;
  }

  // Of the kernels that have some, in the order in which they stand.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> entries_added() const {
    std::map<std::string, std::vector<std::string>> added;
    for (const auto& [kernel, entries] : entries_)
      for (const Entry& entry : entries)
        if (!entry.text.empty()) added[kernel].push_back(entry.variant.entry);
    for (const auto& [kernel, entries] : steps_) {
      for (const contract::Steps& steps : entries.steps)
        added[kernel].push_back(steps.entry);
      for (const contract::Sequence& sequence : entries.sequences)
        added[kernel].push_back(sequence.entry);
    }
    return added;
  }

private:
  using Jobs = std::vector<KernelJob>;
  using Early = passes::launch_early::Plan;

  [[nodiscard]] passes::PinnedText pinned_text(const ptx::Module& module,
                                               const std::vector<std::string>& kernels) {
    passes::Pinning pinning = passes::pin_contractions(module, kernels, assembler_);
    parses_ += pinning.reads;
    passes::PinnedText result{std::move(pinning.module), {}};
    for (const auto& [name, kernel] : pinning.kernels)
      result.refused[name] = kernel.refused.text;
    return result;
  }

  void add_variants() {
    const Options coarsening = for_launcher(options_), remapping = proposing_remaps(options_);
    // Of each kernel one user at a time has what is known of it.
    std::vector<std::string> free;
    for (const ptx::Function& kernel : original_.functions)
      if (ptx::is_kernel(kernel) && reshaped(kernel, true)) free.emplace_back(kernel.name);
    Jobs jobs = jobs_of(coarsening, {&passes::coarsen_row});
    std::vector<std::string> waiting = waiting_of(jobs);
    std::ranges::copy_if(free, std::back_inserter(waiting), [&](const std::string& name) {
      return std::ranges::find(waiting, name) == waiting.end();
    });
    if (!waiting.empty()) {
      jobs.clear();
      pinning_ = passes::pin_contractions(original_, waiting, assembler_);
      parses_ += pinning_.reads;
      jobs = described_jobs(coarsening);
    }
    for (const ptx::Function& kernel : module().functions)
      if (ptx::is_kernel(kernel) && change_of(kernel.name) != nullptr) add_other_form(kernel);
    add_coarsened(jobs, coarsening);
    jobs.clear();
    std::vector<std::pair<std::string, KernelResult>> in_other_orders;
    for (KernelJob& job : jobs_of(remapping, {&passes::remap_row}))
      in_other_orders.emplace_back(job.name(), job.finish());
    std::vector<Proposal> remapped;
    for (auto& [name, result] : in_other_orders)
      if (auto made = as_remapped(name, std::move(result))) remapped.push_back(std::move(*made));
    keep_sound(std::move(remapped));
    std::vector<Proposal> in_other_blocks;
    for (const ptx::Function& kernel : module().functions)
      if (ptx::is_kernel(kernel))
        if (auto made = reshaped(kernel, false)) in_other_blocks.push_back(std::move(*made));
    keep_sound(std::move(in_other_blocks));
  }

  // Of a kernel that the options changed: whichever form has not the kernel's own name.
  void add_other_form(const ptx::Function& kernel) {
    if (own_ == OwnEntries::rewritten) return add(module(), kernel, {.name = "original"});
    const ptx::Function* standard = ptx::find_kernel(standard_, kernel.name);
    if (standard == nullptr) return;
    Variant variant{.name = "standard", .kind = Kind::rewritten};
    if (const target::Profile* const profile = chip(); profile != nullptr)
      variant.gains = gains_of_standard(*change_of(kernel.name), *profile);
    add(standard_, *standard, std::move(variant));
  }

  // The kernel for blocks of other shapes. As the rest it has to compute with the same
  // floating-point operations: where ptxas has a choice that is not written down there is none.
  [[nodiscard]] std::optional<Proposal> reshaped(const ptx::Function& kernel,
                                                 bool waits_for_contraction) const {
    emulator::Kernel found = kept_.take(module(), kernel);
    std::optional<Proposal> made = reshaped(kernel, found, waits_for_contraction);
    kept_.give(std::move(found));
    return made;
  }
  [[nodiscard]] std::optional<Proposal> reshaped(const ptx::Function& kernel,
                                                 const emulator::Kernel& found,
                                                 bool waits_for_contraction) const {
    const passes::ReshapePlan plan = passes::plan_reshape(found);
    if (!plan.refused.empty()) return std::nullopt;
    if (options_.fp_contract == FpContract::exact) {
      const passes::Latitude latitude = passes::count_latitude(found.body);
      if (latitude.foldable > latitude.alike || (latitude.fusable != 0) != waits_for_contraction)
        return std::nullopt;
    } else if (waits_for_contraction) {
      return std::nullopt;
    }
    std::vector<Variant> shapes = shapes_of(plan.axes);
    Proposal made{.kernel = &kernel, .edits = passes::reshape(found, plan), .variant = shapes[0]};
    made.more.assign(shapes.begin() + 1, shapes.end());
    return made;
  }

  [[nodiscard]] Jobs jobs_of(const Options& options, const PassList& list) const {
    Jobs jobs;
    for (const ptx::Function& function : module().functions)
      if (ptx::is_kernel(function))
        jobs.emplace_back(module(), function, options, list, Purpose::rewrite_validated, &kept_);
    return jobs;
  }

  [[nodiscard]] Jobs described_jobs(const Options& options) const {
    Jobs jobs = jobs_of(options, {&passes::coarsen_row});
    for (KernelJob& job : jobs)
      if (const auto found = pinning_.kernels.find(job.name()); found != pinning_.kernels.end())
        job.describe(found->second);
    return jobs;
  }

  static std::vector<std::string> waiting_of(Jobs& jobs) {
    std::vector<std::string> names;
    for (KernelJob& job : jobs)
      if (job.finish().waits_for_contraction) names.push_back(job.name());
    return names;
  }

  // Null: nothing is known of it.
  [[nodiscard]] const target::Profile* chip() const {
    return target::find_profile(passes::architecture_of(module(), options_));
  }

  [[nodiscard]] std::optional<Asked> asked_of(std::string_view kernel) const {
    const target::Profile* const profile = chip();
    const oracle::Changed* const change = change_of(kernel);
    if (profile == nullptr || change == nullptr) return std::nullopt;
    return asked_gains(*change, *profile);
  }

  // Null: the options left it as it was.
  [[nodiscard]] const oracle::Changed* change_of(std::string_view kernel) const {
    const auto found = std::ranges::find(changed_, kernel, &oracle::Changed::kernel);
    return found == changed_.end() ? nullptr : &*found;
  }

  void add_coarsened(Jobs& jobs, const Options& options) {
    const target::Profile* const profile = chip();
    std::vector<KernelJob*> open;
    for (KernelJob& job : jobs)
      if (!job.candidates().candidates.empty()) open.push_back(&job);
    if (profile == nullptr || open.empty()) return;
    Report trials;
    std::vector<passes::CoarsenSearched> searched;
    searched.reserve(open.size());
    for (KernelJob* job : open)
      searched.push_back(job->coarsen_searched());
    passes::choose_coarsenings(module(), searched, options, assembler_, trials);
    std::vector<std::vector<Proposal>> rounds;
    for (KernelJob* job : open) {
      std::size_t round = 0;
      for (VersionCandidate& version : best_candidates(*profile, job->candidates())) {
        passes::Coarsened made = job->coarsened(version.how);
        if (round == rounds.size()) rounds.emplace_back();
        rounds.at(round++).push_back(
            {ptx::find_kernel(module(), job->name()),
             std::move(made.edits),
             {.name = name_of(version.how),
              .kind = Kind::coarsened,
              .divide = version.how.factors,
              .rest = made.rest_by_itself ? Rest::by_itself : Rest::hangs_over,
              .gains = std::move(version.gains)}});
      }
    }
    for (std::vector<Proposal>& round : rounds)
      keep_sound(std::move(round));
  }

  [[nodiscard]] std::optional<Proposal> as_remapped(std::string_view name, KernelResult made) {
    const ptx::Function* kernel = ptx::find_kernel(module(), name);
    if (!made.remapped || kernel == nullptr) return std::nullopt;
    return Proposal{kernel,
                    std::move(made.edits),
                    {.name = ptxasw::text_of(*made.remapped),
                     .kind = Kind::remapped,
                     .rows = rows_of(*kernel, *made.remapped)}};
  }

  // Of a swap of threads, whose gain a launcher reads from the kernel's accesses.
  contract::Rows rows_of(const ptx::Function& kernel, const Remap& remap) {
    if (remap.kind != RemapKind::thread_swap) return {};
    emulator::Kernel found = kept_.take(module(), kernel);
    if (!found.trace.refused.empty()) return {};
    const passes::RemapPlan plan = passes::plan_remap(found, remap);
    std::vector<contract::Access> accesses = passes::accesses_of(found);
    kept_.give(std::move(found));
    if (!plan.refused.empty() || accesses.empty()) return {};
    accesses_[std::string(kernel.name)] = std::move(accesses);
    return {remap.width, plan.axis == 'y' ? 1U : 2U};
  }

  // Of each kernel one version at most. Kept is what means what it was meant to
  // (passes/shared/apply.hpp) and becomes the same floating-point operations
  // (oracle/validation.hpp).
  void keep_sound(std::vector<Proposal> proposals) {
    std::erase_if(proposals, [](const Proposal& made) {
      return made.kernel == nullptr || made.edits.empty();
    });
    if (proposals.empty()) return;
    std::vector<passes::FunctionEdits> changes;
    std::vector<std::string> names;
    for (const Proposal& made : proposals) {
      changes.push_back(
          {static_cast<std::size_t>(made.kernel - module().functions.data()), made.edits, {}});
      names.emplace_back(made.kernel->name);
    }
    const passes::Rewritten rewritten = passes::apply(module(), changes);
    std::map<std::string, Why> validated;
    if (options_.fp_contract == FpContract::exact)
      validated = oracle::validate(
          module(), rewritten, oracle::kernels_with_choice(module(), rewritten, names), assembler_);
    if (!rewritten.module) return;
    const ptx::Module& made = *rewritten.module;
    for (std::size_t n = 0; n < proposals.size(); ++n) {
      const ptx::Function* kernel = ptx::find_kernel(made, names[n]);
      if (changes[n].refused.empty() && !validated.contains(names[n]) && kernel != nullptr)
        add(made, *kernel, std::move(proposals[n].variant), std::move(proposals[n].more));
    }
  }

  void add(const ptx::Module& module, const ptx::Function& kernel, Variant variant,
           std::vector<Variant> more = {}) {
    variant.entry = entry_of(kernel.name, variant.reshapes() ? "reshaped" : variant.name);
    if (standard_.text->find(variant.entry) != std::string::npos) return; // a name of theirs
    std::string text = renamed(module, kernel, variant.entry, variant.waits);
    std::vector<Entry>& entries = entries_[std::string(kernel.name)];
    for (Variant& other : more) {
      other.entry = variant.entry;
      other.waits = variant.waits;
    }
    entries.push_back({std::move(variant), std::move(text)});
    for (Variant& other : more)
      entries.push_back({std::move(other), {}});
  }

  [[nodiscard]] std::string print() const {
    std::vector<ptx::Edit> edits;
    std::string contracts; // behind all else
    for (const ptx::Function& kernel : base_.functions) {
      const auto found = entries_.find(kernel.name);
      const auto steps = steps_.find(kernel.name);
      const bool any_steps = steps != steps_.end() && steps->second.any();
      const Early early = early_of(kernel);
      if ((found == entries_.end() && !any_steps && !early.refused.empty()) ||
          ptx::find_kernel(base_, kernel.name) != &kernel)
        continue;
      if (early.refused.empty()) edits.push_back(passes::launch_early::emit(early));
      const std::uint32_t end = ptx::range_of(base_, kernel).end;
      edits.push_back(
          {{end, end},
           text_of(kernel, found == entries_.end() ? std::vector<Entry>{} : found->second,
                   any_steps ? steps->second : passes::StepEntries{}, contracts)});
    }
    const auto end = static_cast<std::uint32_t>(base_.text->size());
    if (!contracts.empty()) edits.push_back({{end, end}, std::move(contracts)});
    return ptx::print(base_, edits);
  }

  // Where the kernel itself may begin early.
  [[nodiscard]] Early early_of(const ptx::Function& kernel) const {
    if (!options_.variants) return {.refused = {Reason::not_asked, "no variants were asked for"}};
    if (own_ == OwnEntries::as_they_came)
      return {.refused = {Reason::not_asked, "its own entry stays as it came"}};
    return passes::launch_early::find(base_, kernel);
  }

  // The entries and the contract of a kernel. ptxas numbers the addresses of variables that machine
  // code reads: first of those that others see, then of the others, each as they stand in the
  // module. Where own entries stay as they came, so do these numbers: the contract is the last of
  // them all, and others see it unless the module has variables that they do not see.
  [[nodiscard]] std::string text_of(const ptx::Function& kernel, const std::vector<Entry>& entries,
                                    const passes::StepEntries& steps,
                                    std::string& contracts) const {
    const ptx::Function* original = ptx::find_kernel(module(), kernel.name);
    if (original == nullptr) return {};
    const std::vector<contract::ParameterSlot> places = passes::places_of(module(), *original);
    const auto bytes = bytes_of(places);
    if (places.size() != original->parameters.size() || !bytes) return {};
    Contract contract{.kernel = std::string(kernel.name),
                      .parameters = static_cast<unsigned>(original->parameters.size()),
                      .parameter_bytes = *bytes,
                      .places = places,
                      .variants = {}};
    const bool changed = own_ == OwnEntries::rewritten && change_of(kernel.name) != nullptr;
    contract.variants.push_back({.entry = contract.kernel,
                                 .name = changed ? "standard" : "original",
                                 .kind = changed ? Kind::rewritten : Kind::original,
                                 .waits = early_of(kernel).refused.empty()});
    std::string text, code(base_.slice(ptx::range_of(base_, kernel)));
    const std::optional<Asked> asked = asked_of(kernel.name);
    if (contract.variants[0].waits) code += "waits";
    if (asked) contract.variants[0].gains = changed ? asked->standard : asked->original;
    if (const auto known = accesses_.find(kernel.name); known != accesses_.end())
      contract.accesses = known->second;
    for (const Entry& entry : entries) {
      code += entry.text;
      contract.variants.push_back(entry.variant);
      if (asked && entry.variant.kind == Kind::original)
        contract.variants.back().gains = asked->original;
      if (!entry.text.empty()) text += fmt::format("\n\n{}", entry.text);
    }
    if (!places.empty() && base_.text->find("__ptxasw_steps") == std::string::npos) {
      contract.steps = steps.steps;
      contract.copy = steps.copy;
      contract.sequences = steps.sequences;
      text += steps.text;
      code += steps.text;
    }
    contract.code = words::hash(code);
    if (const ptx::Function* known = ptx::find_kernel(original_, kernel.name))
      contract.text = hash_of(original_, *known);
    const std::string variable = variable_of(contract);
    const std::string_view linkage = kernel.weak ? ".weak " : ".visible ";
    if (own_ != OwnEntries::as_they_came) return text + fmt::format("\n\n{}{}", linkage, variable);
    contracts.append("\n").append(has_own_variables(*base_.text) ? "" : linkage) += variable;
    return text;
  }

  // The kernels as they were, ptxas' choices pinned.
  [[nodiscard]] const ptx::Module& module() const {
    return pinning_.module ? *pinning_.module : original_;
  }

  passes::Pinning pinning_;
  const std::vector<oracle::Changed>& changed_; // in the standard form
  const Options& options_;
  Assembler& assembler_;
  emulator::Emulations& kept_;
  OwnEntries own_;
  const ptx::Module& original_;
  ptx::Module standard_;
  const ptx::Module& base_; // what the entries are added to
  unsigned parses_ = 0;
  std::map<std::string, std::vector<Entry>, std::less<>> entries_;
  std::map<std::string, passes::StepEntries, std::less<>> steps_;
  std::map<std::string, std::vector<contract::Access>, std::less<>>
      accesses_; // of kernels with rows
};

} // namespace

Options for_launcher(Options options) {
  options.variants = false;
  options.coarsen = {1, 1, 1};
  // Which launches are large the launcher sees: what would harm small ones is for it to leave.
  options.coarsen_auto = options.coarsen_large = true;
  options.coarsen_grid = CoarsenGrid::launcher;
  options.fewer_blocks = true; // the launcher leaves cooperative launches alone
  // Guessed registers turn candidates down that gain by what ptxas makes of them; who asks for
  // variants has time.
  options.effort = Effort::thorough;
  options.remaps.clear();
  return options;
}

Optimized with_versions(oracle::Printed printed, std::optional<ptx::Module> made,
                        const std::shared_ptr<const ptx::Module>& original, const Options& options,
                        Assembler& assembler, emulator::Emulations& kept, OwnEntries own) {
  Optimized& standard = printed.made;
  const std::string& file = original->file;
  if (!made && standard.text == *original->text) made = *original;
  if (!made || *made->text != standard.text) {
    made = ptx::parse(standard.text, file);
    ++standard.report.parses;
  }
  const unsigned emulated = kept.made();
  Writer writer(printed, std::move(*made), *original, options, assembler, kept, own);
  std::string more = writer.run();
  standard.report.parses += writer.parses();
  standard.report.emulations += kept.made() - emulated;
  if (own == OwnEntries::as_they_came) {
    standard.text = *original->text;
    standard.changed = false;
  }
  for (const auto& [kernel, outcome] : writer.step_outcomes())
    for (KernelReport& report : standard.report.kernels)
      if (report.name == kernel) report.steps = outcome;
  if (more == standard.text) return std::move(standard);
  if (!assembler.keep(more)) {
    const std::string why = assembler.refusal();
    standard.report.messages.push_back({0, 0,
                                        file + ": ptxas does not take the variants" +
                                            (why.empty() ? "" : fmt::format(" ({})", why))});
    if (standard.changed) assembler.keep(standard.text);
    return std::move(standard);
  }
  const auto added = writer.entries_added();
  for (KernelReport& report : standard.report.kernels)
    if (const auto found = added.find(report.name); found != added.end())
      report.entries = found->second;
  standard.changed = true;
  standard.text = std::move(more);
  return std::move(standard);
}

} // namespace ptxasw::manager
