// The size is stated in the header; what comes of the body has to have it.
#include "image/entry.hpp"

#include <cstring>
#include <limits>

#ifdef PTXASW_LZ4
#include <lz4.h>
#endif
#ifdef PTXASW_ZSTD
#include <zstd.h>
#endif

namespace ptxasw::image {
namespace {

using Body = tl::expected<std::string, Reason>;

// So much can come of so many bytes at most; what claims more is not worth the memory.
constexpr std::uint64_t most_of_lz4 = 255, most_of_zstd = 1 << 16;

Body refused(Reason reason) {
  return tl::unexpected(reason);
}

#ifdef PTXASW_LZ4
// One block, without a frame.
Body from_lz4(Bytes stored, std::uint64_t size) {
  if (size / most_of_lz4 > stored.size() || stored.size() > LZ4_MAX_INPUT_SIZE)
    return refused(Reason::damaged);
  std::string body(size, '\0');
  const int got =
      LZ4_decompress_safe(words_of(stored).data(), body.data(), static_cast<int>(stored.size()),
                          static_cast<int>(body.size()));
  if (got < 0 || static_cast<std::uint64_t>(got) != size) return refused(Reason::damaged);
  return body;
}
#else
Body from_lz4(Bytes /*stored*/, std::uint64_t /*size*/) {
  return refused(Reason::compression);
}
#endif

#ifdef PTXASW_ZSTD
Body from_zstd(Bytes stored, std::uint64_t size) {
  if (size / most_of_zstd > stored.size()) return refused(Reason::damaged);
  std::string body(size, '\0');
  const std::size_t got = ZSTD_decompress(body.data(), body.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != size) return refused(Reason::damaged);
  return body;
}
#else
Body from_zstd(Bytes /*stored*/, std::uint64_t /*size*/) {
  return refused(Reason::compression);
}
#endif

Body bytes_of(const Entry& entry) {
  static_assert(largest_body <= std::numeric_limits<int>::max());
  if (entry.size > largest_body) return refused(Reason::too_large);
  const Bytes stored = entry.compressed == 0 ? entry.stored : entry.stored.first(entry.compressed);
  switch (entry.compression) {
  case Compression::none: return std::string(words_of(stored));
  case Compression::lz4: return from_lz4(stored, entry.size);
  case Compression::zstd: return from_zstd(stored, entry.size);
  case Compression::unknown: break;
  }
  return refused(Reason::compression);
}

} // namespace

tl::expected<std::string, Reason> body_of(const Entry& entry) {
  Body body = bytes_of(entry);
  if (!body || entry.kind != Kind::text) return body;
  body->resize(std::strlen(body->c_str())); // what pads it are zeros, too
  return body;
}

} // namespace ptxasw::image
