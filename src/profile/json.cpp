// A profile as JSON. What is read may be anybody's: each value is looked at before it is taken.
#include "profile/profile.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <optional>

namespace ptxasw::profile {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* version_key = "ptxasw_profile";

std::string hexadecimal(std::uint64_t n) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(n));
  return text.data();
}

Json json_of(const Shape& shape) {
  Json made{{"grid", shape.grid},
            {"block", shape.block},
            {"shared", shape.shared},
            {"launches", shape.launches},
            {"chosen", shape.chosen}};
  Json& versions = made["versions"] = Json::object();
  for (const auto& [name, time] : shape.versions)
    versions[name] = {{"samples", time.samples}, {"least", time.least}, {"mean", time.mean}};
  return made;
}

// Takes what is there and what it should be; anything else makes the whole thing unreadable.
class Reader {
public:
  std::optional<Profile> run(const Json& from) {
    Profile made;
    const Json& chip = object(from, "chip");
    made.chip = {text(chip, "name"), text(chip, "architecture")};
    made.runs = number<unsigned>(from, "runs");
    for (const Json& kernel : list(from, "kernels"))
      made.kernels.push_back(this->kernel(kernel));
    if (broken_) return std::nullopt;
    return made;
  }

private:
  Kernel kernel(const Json& from) {
    Kernel made{.name = text(from, "name"), .launches = number<std::uint64_t>(from, "launches")};
    const std::string hash = text(from, "text");
    char* end = nullptr;
    made.text = std::strtoull(hash.c_str(), &end, 16);
    broken_ |= hash.size() != 16 || *end != '\0';
    for (const Json& shape : list(from, "shapes"))
      made.shapes.push_back(this->shape(shape));
    return made;
  }

  Shape shape(const Json& from) {
    Shape made{.grid = sizes(from, "grid"),
               .block = sizes(from, "block"),
               .shared = number<unsigned>(from, "shared"),
               .launches = number<std::uint64_t>(from, "launches"),
               .chosen = text(from, "chosen")};
    for (const auto& [name, time] : object(from, "versions").items())
      made.versions[name] = {number<std::uint64_t>(time, "samples"), real(time, "least"),
                             real(time, "mean")};
    return made;
  }

  const Json& member(const Json& from, const char* key) {
    static const Json none;
    if (!from.is_object() || !from.contains(key)) return broken_ = true, none;
    return *from.find(key);
  }
  const Json& object(const Json& from, const char* key) {
    const Json& found = member(from, key);
    broken_ |= !found.is_object();
    return found;
  }
  const Json& list(const Json& from, const char* key) {
    static const Json none = Json::array();
    const Json& found = member(from, key);
    return found.is_array() ? found : (broken_ = true, none);
  }
  std::string text(const Json& from, const char* key) {
    const Json& found = member(from, key);
    return found.is_string() ? found.get<std::string>() : (broken_ = true, "");
  }
  template <class Number> Number whole(const Json& found) {
    const bool fits =
        found.is_number_unsigned() && std::in_range<Number>(found.get<std::uint64_t>());
    return fits ? found.get<Number>() : (broken_ = true, Number{});
  }
  template <class Number> Number number(const Json& from, const char* key) {
    return whole<Number>(member(from, key));
  }
  double real(const Json& from, const char* key) {
    const Json& found = member(from, key);
    const double value = found.is_number() ? found.get<double>() : -1;
    return value >= 0 ? value : (broken_ = true, 0);
  }
  std::array<unsigned, 3> sizes(const Json& from, const char* key) {
    const Json& all = list(from, key);
    std::array<unsigned, 3> result{1, 1, 1};
    broken_ |= all.size() != result.size();
    for (std::size_t n = 0; n < std::min(all.size(), result.size()); ++n)
      result.at(n) = whole<unsigned>(all.at(n));
    return result;
  }

  bool broken_ = false;
};

} // namespace

std::string to_json(const Profile& profile) {
  Json made{{version_key, version},
            {"chip", {{"name", profile.chip.name}, {"architecture", profile.chip.architecture}}},
            {"runs", profile.runs}};
  Json& kernels = made["kernels"] = Json::array();
  for (const Kernel& kernel : profile.kernels) {
    Json& row = kernels.emplace_back();
    row = {{"name", kernel.name},
           {"text", hexadecimal(kernel.text)},
           {"launches", kernel.launches},
           {"shapes", Json::array()}};
    for (const Shape& shape : kernel.shapes)
      row["shapes"].push_back(json_of(shape));
  }
  return made.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

tl::expected<Profile, std::string> from_json(std::string_view text) {
  const auto refused = [](const char* why) { return tl::unexpected<std::string>(why); };
  const Json all = Json::parse(text, nullptr, false);
  if (!all.is_object() || !all.contains(version_key)) return refused("it is no profile");
  if (all.at(version_key) != version) return refused("it is of another version of ptxasw");
  auto made = Reader().run(all);
  if (!made) return refused("it is damaged");
  return std::move(*made);
}

tl::expected<Profile, std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return tl::unexpected<std::string>("it cannot be read");
  std::string text;
  std::array<char, 1 << 16> part{};
  while (file.read(part.data(), part.size()) || file.gcount() > 0) {
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > largest_file) return tl::unexpected<std::string>("it is too large");
  }
  return from_json(text);
}

} // namespace ptxasw::profile
