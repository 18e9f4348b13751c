// Profiles are entries of the store by their names alone.
#include "driver/stored_profile.hpp"

#include "store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ptxasw::driver {
namespace {

constexpr store::Kind profiles{"profiles", 1};
constexpr std::string_view in_store = "store:";

class Profiles {
public:
  explicit Profiles(const Environment& environment)
      : store_(store::settings_from([&](std::string_view name) { return environment.get(name); }),
               [this](const std::string& warning) { said_ = warning; }) {}

  [[nodiscard]] std::optional<store::Found> get(std::string_view name) {
    return store_.get(profiles, store::key_of({name}));
  }
  void put(std::string_view name, std::string_view text) {
    store_.put(profiles, store::key_of({name}), text);
  }
  // What is wrong with the store; empty: nothing that is known.
  [[nodiscard]] const std::string& said() const { return said_; }

private:
  std::string said_;
  store::Store store_;
};

std::string as_anybodys(const std::string& text) {
  auto profile = profile::from_json(text);
  if (!profile) return text; // whoever reads it says so
  for (profile::Kernel& kernel : profile->kernels)
    kernel.cooperative = std::max<std::uint64_t>(kernel.cooperative, 1);
  return profile::to_json(*profile);
}

} // namespace

std::optional<std::string> read_stored_profile(Options& options, const Environment& environment) {
  if (!options.profile.starts_with(in_store)) return std::nullopt;
  Profiles store(environment);
  auto found = store.get(std::string_view(options.profile).substr(in_store.size()));
  if (!found) {
    const std::string why = store.said().empty() ? "the store has none" : store.said();
    return fmt::format("profile {}: {}; ignored", std::exchange(options.profile, {}), why);
  }
  options.profile_text = std::make_shared<const std::string>(
      found->trusted ? std::move(found->bytes) : as_anybodys(found->bytes));
  return std::nullopt;
}

std::optional<std::string> keep_profile(std::string_view name, const profile::Profile& profile,
                                        const Environment& environment) {
  Profiles store(environment);
  const std::string text = profile::to_json(profile);
  if (const auto known = store.get(name)) {
    if (known->bytes == text) return std::nullopt;
    return fmt::format("the store has another profile named {}, and builds may have been made with "
                       "it: take another name",
                       name);
  }
  if (store.said().empty()) store.put(name, text);
  const auto kept = store.get(name);
  if (kept && kept->bytes == text && store.said().empty()) return std::nullopt;
  return store.said().empty() ? "there is no store, or it cannot be written" : store.said();
}

} // namespace ptxasw::driver
