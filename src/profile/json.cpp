// A profile as JSON. What is read may be anybody's: each value is looked at before it is taken.
#include "contract/json_reader.hpp"
#include "profile/profile.hpp"

#include <fstream>
#include <optional>

namespace ptxasw::profile {
namespace {

constexpr const char* version_key = "ptxasw_profile";

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

class Reader {
public:
  std::optional<Profile> run(const Json& from) {
    Profile made;
    const Json& chip = read_.object(from, "chip");
    made.chip = {read_.text(chip, "name"), read_.text(chip, "architecture")};
    made.runs = read_.number<unsigned>(from, "runs");
    for (const Json& kernel : read_.list(from, "kernels"))
      made.kernels.push_back(this->kernel(kernel));
    if (read_.is_broken()) return std::nullopt;
    return made;
  }

private:
  Kernel kernel(const Json& from) {
    Kernel made{.name = read_.text(from, "name"),
                .text = read_.hash(from, "text"),
                .launches = read_.number<std::uint64_t>(from, "launches"),
                .cooperative = read_.number<std::uint64_t>(from, "cooperative")};
    for (const Json& shape : read_.list(from, "shapes"))
      made.shapes.push_back(this->shape(shape));
    return made;
  }

  Shape shape(const Json& from) {
    Shape made{.grid = read_.sizes(from, "grid"),
               .block = read_.sizes(from, "block"),
               .shared = read_.number<unsigned>(from, "shared"),
               .launches = read_.number<std::uint64_t>(from, "launches"),
               .chosen = read_.text(from, "chosen")};
    for (const auto& [name, time] : read_.object(from, "versions").items())
      made.versions[name] = {read_.number<std::uint64_t>(time, "samples"),
                             read_.real(time, "least"), read_.real(time, "mean")};
    return made;
  }

  JsonReader read_;
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
           {"cooperative", kernel.cooperative},
           {"shapes", Json::array()}};
    for (const Shape& shape : kernel.shapes)
      row["shapes"].push_back(json_of(shape));
  }
  return to_line(made) + '\n';
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
