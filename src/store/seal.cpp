// libnettle where it was found; its functions are linked statically.
#include "store/seal.hpp"

#ifdef PTXASW_NETTLE
#include <nettle/hmac.h>
#include <nettle/memops.h>
#endif

namespace ptxasw::store {

#ifdef PTXASW_NETTLE

bool can_seal() {
  return true;
}

Seal seal_of(std::initializer_list<std::string_view> parts, std::string_view secret) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<const std::uint8_t*>(text.data()); // NOLINT: as nettle wants them
  };
  hmac_sha256_ctx context;
  hmac_sha256_set_key(&context, secret.size(), bytes(secret));
  for (const std::string_view part : parts)
    hmac_sha256_update(&context, part.size(), bytes(part));
  Seal seal;
  hmac_sha256_digest(&context, seal.size(), seal.data());
  return seal;
}

bool is_same(const Seal& one, const Seal& other) {
  return memeql_sec(one.data(), other.data(), one.size()) != 0;
}

#else

bool can_seal() {
  return false;
}

Seal seal_of(std::initializer_list<std::string_view> /*parts*/, std::string_view /*secret*/) {
  return no_seal;
}

bool is_same(const Seal& /*one*/, const Seal& /*other*/) {
  return false;
}

#endif

} // namespace ptxasw::store
