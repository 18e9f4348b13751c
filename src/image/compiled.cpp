// An answer is a word in an entry of the store.
#include "image/compiled.hpp"

#include "sass/same_function.hpp"

#include <limits>

namespace ptxasw::image {
namespace {

constexpr store::Kind agreements{"agreements", 1, false};
constexpr std::string_view yes = "agrees", no = "differs";

store::Key place_for(const ImageKey& key, std::string_view linked, std::string_view compiler) {
  return store::place_of(agreements, store::key_of({store::hexadecimal(key), linked, compiler}));
}

} // namespace

std::string fingerprint(std::string_view bytes) {
  const sass::Cubin cubin(bytes);
  if (sass::kernels_of(cubin).empty()) return {};
  return store::hexadecimal(store::key_of({sass::described(cubin)}));
}

std::optional<bool> find_agreement(const std::string& folder, const ImageKey& key,
                                   std::string_view linked, std::string_view compiler) {
  if (folder.empty()) return std::nullopt;
  const store::Folder entries(folder, store::Folder::Users::owner, 0);
  const store::Key place = place_for(key, linked, compiler);
  auto file = entries.read(place);
  if (!file || !file->ours) return std::nullopt;
  const auto entry = store::unpack(agreements, place, std::move(file->entry), {});
  if (!entry || (entry->bytes != yes && entry->bytes != no)) return std::nullopt;
  return entry->bytes == yes;
}

bool keep_agreement(const std::string& folder, const ImageKey& key, std::string_view linked,
                    std::string_view compiler, bool agrees) {
  constexpr std::uint64_t no_limit = std::numeric_limits<std::int64_t>::max();
  if (folder.empty()) return false;
  const store::Folder entries(folder, store::Folder::Users::owner, no_limit);
  const store::Key place = place_for(key, linked, compiler);
  return entries.write(place, store::pack(agreements, place, agrees ? yes : no, {}));
}

} // namespace ptxasw::image
