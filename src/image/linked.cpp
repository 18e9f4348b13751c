// A magic, the sizes of options and text, and the three parts one behind the other.
#include "image/linked.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::image {
namespace {

constexpr std::string_view linked_magic = "ptxasw-linked 1\n";
using Sizes = std::array<std::uint64_t, 2>; // of options and text

std::string file_for(const std::string& folder, std::size_t cubin_size) {
  return folder + "/linked/" + std::to_string(cubin_size);
}

} // namespace

std::string packed(const Linked& linked) {
  const Sizes sizes{linked.options.size(), linked.text.size()};
  std::string all(linked_magic);
  all.append(reinterpret_cast<const char*>(sizes.data()), sizeof sizes); // NOLINT: their bytes
  all.append(linked.options).append(linked.text).append(linked.cubin);
  return all;
}

std::optional<Linked> unpacked(Bytes image) {
  std::string_view rest = words_of(image);
  Sizes sizes{};
  if (!rest.starts_with(linked_magic)) return std::nullopt;
  rest.remove_prefix(linked_magic.size());
  if (rest.size() < sizeof sizes) return std::nullopt;
  std::memcpy(sizes.data(), rest.data(), sizeof sizes);
  rest.remove_prefix(sizeof sizes);
  const auto [options, text] = sizes;
  if (options > rest.size() || text > rest.size() - options) return std::nullopt;
  return Linked{.options = rest.substr(0, options),
                .text = rest.substr(options, text),
                .cubin = rest.substr(options + text)};
}

bool has_size(const std::string& folder, std::size_t cubin_size) {
  return !folder.empty() && ::access(file_for(folder, cubin_size).c_str(), F_OK) == 0;
}

bool keep_size(const std::string& folder, std::size_t cubin_size) {
  constexpr mode_t owner_folder = 0700, owner_file = 0600;
  if (folder.empty()) return false;
  ::mkdir((folder + "/linked").c_str(), owner_folder);
  const int file =
      ::open(file_for(folder, cubin_size).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, owner_file);
  if (file >= 0) ::close(file);
  return file >= 0;
}

} // namespace ptxasw::image
