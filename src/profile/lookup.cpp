// By name and text.
#include "profile/lookup.hpp"

#include "profile/version_name.hpp"

namespace ptxasw::profile {
namespace {

struct Seen {
  bool timed = false, gained = false;
};

// Of versions that a build can make when it is told to, and of what it makes by itself
// ("standard").
Seen seen_of(const Kernel& kernel) {
  Seen seen;
  for (const Shape& shape : kernel.shapes)
    for (const auto& [name, time] : shape.versions) {
      const double gain = gain_of(shape, name);
      const bool is_built = can_be_built(name);
      seen.timed |= is_built && gain > 0;
      seen.gained |= (is_built || name == "standard") && gain > 1;
    }
  return seen;
}

Answer answer_of(const Profile& profile, const Asked& kernel, bool& has_another_text) {
  bool is_known = false;
  for (const Kernel& known : profile.kernels) {
    if (known.name != kernel.name) continue;
    is_known = true;
    has_another_text |= known.text != 0 && known.text != kernel.text;
    const Seen seen = seen_of(known);
    if (known.text != kernel.text || !seen.timed) continue;
    has_another_text = false;
    return {seen.gained ? Known::times : Known::never_gained, &known};
  }
  return {is_known ? Known::nothing : Known::never_launched, nullptr};
}

} // namespace

Lookup::Lookup(const Profile& profile, const std::vector<Asked>& kernels) {
  bool any = false;
  for (const Asked& kernel : kernels) {
    bool has_another_text = false;
    answers_.push_back(answer_of(profile, kernel, has_another_text));
    any |= answers_.back().known != Known::never_launched;
    if (has_another_text) other_texts_.push_back(kernel.name);
  }
  if (!any) { // of another program
    answers_.clear();
    return;
  }
  Profile said{.chip = profile.chip, .runs = 0};
  for (std::size_t n = 0; n < answers_.size(); ++n) {
    if (answers_[n].known == Known::nothing) continue;
    said.kernels.push_back(answers_[n].kernel != nullptr ? *answers_[n].kernel
                                                         : Kernel{.name = kernels[n].name});
  }
  if (!said.kernels.empty()) relevant_ = to_json(said);
}

} // namespace ptxasw::profile
