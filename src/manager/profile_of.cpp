// A profile is read by every call that is given one: a build's kernels are known by their texts.
#include "manager/profile_of.hpp"

#include "passes/shared/function_facts.hpp"
#include "profile/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::manager {
namespace {

constexpr std::size_t not_asked = ~std::size_t{0};

// "sm_90" of "sm_90a".
std::string_view family_of(std::string_view architecture) {
  return architecture.substr(0, architecture.find_last_of("0123456789") + 1);
}

} // namespace

std::uint64_t hash_of(const ptx::Module& module, const ptx::Function& kernel) {
  const std::uint32_t begin = module.statements[kernel.statement].range.begin;
  return profile::hash_of_text(module.slice({begin, module.body_of(kernel).back().range.end}));
}

KnownKernels::KnownKernels(const ptx::Module& module, const Options& options) {
  auto read = profile::read_file(options.profile);
  if (!read) {
    warnings_.push_back(fmt::format("profile {}: {}; ignored", options.profile, read.error()));
    return;
  }
  const std::string_view chip = passes::architecture_of(module, options);
  if (family_of(read->chip.architecture) != family_of(chip)) {
    warnings_.push_back(fmt::format("profile {}: it is of {} ({}), and this is for {}; ignored",
                                    options.profile, read->chip.name, read->chip.architecture,
                                    chip));
    return;
  }
  profile_ = std::move(*read);
  look_up(module, options);
}

void KnownKernels::look_up(const ptx::Module& module, const Options& options) {
  std::vector<profile::Asked> asked;
  for (const ptx::Function& function : module.functions) {
    const bool is_kernel = function.is_entry && !function.is_declaration;
    places_.push_back(is_kernel ? asked.size() : not_asked);
    if (is_kernel) asked.push_back({std::string(function.name), hash_of(module, function)});
  }
  lookup_ = profile::Lookup(profile_, asked);
  const std::vector<std::string>& others = lookup_.other_texts();
  if (!others.empty())
    warnings_.push_back(
        fmt::format("profile {}: it was made of another text of {}{}, which is compiled as without",
                    options.profile, others.front(),
                    others.size() == 1 ? "" : fmt::format(" and {} more", others.size() - 1)));
}

profile::Answer KnownKernels::answer(std::size_t function) const {
  return function < places_.size() ? lookup_.answer(places_[function]) : profile::Answer{};
}

Why why_untouched(const profile::Answer& answer) {
  switch (answer.known) {
  case profile::Known::never_launched:
    return {Reason::never_launched, "the profile knows no launch of it"};
  case profile::Known::never_gained:
    return {Reason::never_gained, "no version of it was faster in the launches of the profile"};
  default: return {};
  }
}

} // namespace ptxasw::manager
