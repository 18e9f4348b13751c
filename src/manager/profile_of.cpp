// A profile is read by every call that is given one: a build's kernels are known by their texts.
#include "manager/profile_of.hpp"

#include "manager/entry_text.hpp"
#include "passes/shared/function_facts.hpp"
#include "profile/text.hpp"
#include "profile/version_name.hpp"
#include "ptx/written.hpp"
#include "target/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace ptxasw::manager {
namespace {

constexpr std::size_t not_asked = ~std::size_t{0};

// "sm_90" of "sm_90a".
std::string_view family_of(std::string_view architecture) {
  return architecture.substr(0, architecture.find_last_of("0123456789") + 1);
}

// Microseconds of all launches of a run that were timed by the kernel as it is.
class Times {
public:
  explicit Times(const profile::Kernel& run) : run_(run) {
    for (const profile::Shape& shape : run_.shapes)
      original_ += before(shape);
  }

  [[nodiscard]] double original() const { return original_; }
  // By the best coarsening of each shape, at its best.
  [[nodiscard]] double merged() const {
    double sum = 0;
    for (const profile::Shape& shape : run_.shapes) {
      double gain = 1;
      for (const auto& [name, time] : shape.versions)
        if (profile::factors_of(name)) gain = std::max(gain, profile::gain_of(shape, name));
      sum += before(shape) / gain;
    }
    return sum;
  }
  [[nodiscard]] std::set<std::string> orders() const {
    std::set<std::string> names;
    for (const profile::Shape& shape : run_.shapes)
      for (const auto& [name, time] : shape.versions)
        if (profile::is_order(name)) names.insert(name);
    return names;
  }
  // None where a launch that takes time would lose, or was not timed.
  [[nodiscard]] std::optional<double> by(const std::string& order) const {
    double sum = 0;
    for (const profile::Shape& shape : run_.shapes) {
      const double gain = profile::gain_of(shape, order);
      const bool is_little = before(shape) < numbers::measured::little * original_;
      if (gain < numbers::measured::least_each && !is_little) return std::nullopt;
      sum += gain > 0 ? before(shape) / gain : before(shape);
    }
    return sum;
  }

private:
  static double before(const profile::Shape& shape) {
    return static_cast<double>(shape.launches) * profile::time_as_it_is(shape);
  }

  const profile::Kernel& run_;
  double original_ = 0;
};

} // namespace

std::uint64_t hash_of(const ptx::Module& module, const ptx::Function& kernel) {
  return profile::hash_of_text(module.slice(ptx::range_of(module, kernel)));
}

KnownKernels::KnownKernels(const ptx::Module& module, const Options& options) {
  auto read = options.profile_text ? profile::from_json(*options.profile_text)
                                   : profile::read_file(options.profile);
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
    places_.push_back(ptx::is_kernel(function) ? asked.size() : not_asked);
    if (ptx::is_kernel(function))
      asked.push_back({std::string(function.name), hash_of(module, function)});
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

std::unique_ptr<Options> KnownKernels::options_for(std::size_t function,
                                                   const Options& module) const {
  const profile::Kernel* run = answer(function).kernel;
  if (run == nullptr || answer(function).known != profile::Known::times) return nullptr;
  auto own = std::make_unique<Options>(module);
  // Nobody counts on as many blocks as fit on the chip but cooperative launches.
  own->fewer_blocks |= run->cooperative == 0;
  if (const std::string order = best_order(*run); !order.empty()) {
    Options reordered = *own;
    if (!apply_option(reordered, "remap=" + order + '@' + run->name)) *own = std::move(reordered);
  }
  return own;
}

std::string best_order(const profile::Kernel& run) {
  const Times times(run);
  std::string best;
  double least = std::min(times.original() / numbers::measured::least_gain, times.merged());
  for (const std::string& order : times.orders())
    if (const auto time = times.by(order); time && *time < least) {
      best = order;
      least = *time;
    }
  return best;
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
