// An entry of the store in JSON.
#include "image/needed.hpp"

#include "contract/json_reader.hpp"
#include "store/descriptor.hpp"
#include "words/words.hpp"

#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace ptxasw::image {
namespace {

namespace fs = std::filesystem;

constexpr store::Kind kind{"needed", 1, false};
constexpr std::size_t longest_line = 1 << 14; // of a command, as far as it counts

std::optional<ImageKey> key_in(std::string_view word) {
  const auto high = words::number<std::uint64_t>(word.substr(0, 16), 16);
  const auto low =
      word.size() == 32 ? words::number<std::uint64_t>(word.substr(16), 16) : std::nullopt;
  return high && low ? std::optional<ImageKey>({*high, *low}) : std::nullopt;
}

} // namespace

store::Key program_of_process() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const store::Descriptor file(::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  std::string all(longest_line, '\0');
  const ssize_t size = file ? ::read(file.get(), all.data(), all.size()) : 0;
  std::string_view rest(all.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  words::take(rest, std::string_view("\0", 1));
  const std::string told(words::take(rest, std::string_view("\0", 1)));
  const bool is_file = !told.empty() && fs::is_regular_file(told, error);
  return store::key_of({program.native(), is_file ? fs::absolute(told, error).native() : ""});
}

std::optional<Needed> find_needed(const std::string& folder, const store::Key& program) {
  if (folder.empty()) return std::nullopt;
  const auto bytes = store::read_own({folder, store::Folder::Users::owner, 0}, kind, program);
  if (!bytes) return std::nullopt;
  const Json all = Json::parse(*bytes, nullptr, false);
  JsonReader reader;
  Needed found;
  for (const Json& image : reader.list(all, "images")) {
    const auto key = key_in(reader.text(image));
    reader.require(key.has_value());
    if (key) found.images.insert(*key);
  }
  for (const Json& contract : reader.list(all, "contracts"))
    found.contracts.insert(reader.text(contract));
  return reader.is_broken() ? std::nullopt : std::optional(std::move(found));
}

bool keep_needed(const std::string& folder, const store::Key& program, const Needed& needed) {
  if (folder.empty()) return false;
  Json images = Json::array();
  for (const ImageKey& key : needed.images)
    images.push_back(store::hexadecimal(key));
  const std::string bytes = to_line({{"images", images}, {"contracts", needed.contracts}});
  return store::write_own({folder, store::Folder::Users::owner, store::no_limit}, kind, program,
                          bytes);
}

} // namespace ptxasw::image
