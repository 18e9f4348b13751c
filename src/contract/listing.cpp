#include "contract/listing.hpp"

#include <algorithm>

namespace ptxasw::contract {
namespace {

std::string what_is_merged(const Variant& variant) {
  std::string text;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (variant.divide[axis] > 1)
      text += (text.empty() ? "one block does the work of " : " and ") +
              std::to_string(variant.divide[axis]) + " along " + "xyz"[axis];
  return text;
}

std::string what_it_does(const Variant& variant) {
  switch (variant.kind) {
  case Kind::original: return "as it came, without what its options made of it";
  case Kind::rewritten: return "launched as it came, as a build by default rewrites it";
  case Kind::coarsened: return what_is_merged(variant);
  case Kind::remapped:
    return variant.rows.count != 0 ? "its threads walk along another axis"
                                   : "its work in another order";
  case Kind::reshaped: return "in blocks of another shape";
  }
  return {};
}

std::string what_it_does(const Steps& steps) {
  return (steps.is_told ? "as many" : std::to_string(steps.count)) + " time steps in one launch, " +
         std::to_string(steps.covers[0]) + "x" + std::to_string(steps.covers[1]) + "x" +
         std::to_string(steps.covers[2]) + " points a block";
}

void predict(Listed& listed, const Variant& variant, double worth_it) {
  for (const Gain& gain : variant.gains)
    for (std::size_t n = 0; n < waves.size(); ++n) {
      if (gain.by_waves[n] > listed.gain) {
        listed.gain = gain.by_waves[n];
        listed.threads = gain.threads;
      }
      if (gain.by_waves[n] > worth_it && (listed.from_waves == 0 || waves[n] < listed.from_waves))
        listed.from_waves = waves[n];
    }
}

} // namespace

std::vector<Listed> versions_of(const Contract& contract, double worth_it) {
  std::vector<Listed> all;
  for (const Variant& variant : contract.variants) {
    if (variant.entry == contract.kernel) continue;
    auto found = std::ranges::find(all, variant.entry, &Listed::entry);
    if (found == all.end())
      found = all.insert(all.end(), {.entry = variant.entry, .what = what_it_does(variant)});
    found->names.push_back(variant.name);
    predict(*found, variant, worth_it);
  }
  for (const Steps& steps : contract.steps) { // an entry that is told how many, several times
    auto found = std::ranges::find(all, steps.entry, &Listed::entry);
    if (found == all.end())
      found = all.insert(all.end(),
                         {.entry = steps.entry, .what = what_it_does(steps), .is_steps = true});
    found->names.push_back("steps:" + std::to_string(steps.count));
  }
  return all;
}

} // namespace ptxasw::contract
