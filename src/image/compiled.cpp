// An answer is a word in an entry of the store.
#include "image/compiled.hpp"

#include "sass/same_function.hpp"

namespace ptxasw::image {
namespace {

constexpr store::Kind agreements{"agreements", 1, false};
constexpr std::string_view yes = "agrees", no = "differs";

store::Key key_for(const ImageKey& key, std::string_view linked, std::string_view compiler) {
  return store::key_of({store::hexadecimal(key), linked, compiler});
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
  const auto answer = store::read_own({folder, store::Folder::Users::owner, 0}, agreements,
                                      key_for(key, linked, compiler));
  if (answer != yes && answer != no) return std::nullopt;
  return answer == yes;
}

bool keep_agreement(const std::string& folder, const ImageKey& key, std::string_view linked,
                    std::string_view compiler, bool agrees) {
  if (folder.empty()) return false;
  return store::write_own({folder, store::Folder::Users::owner, store::no_limit}, agreements,
                          key_for(key, linked, compiler), agrees ? yes : no);
}

} // namespace ptxasw::image
