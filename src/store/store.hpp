// What was computed or measured once, for whoever asks again: a folder of this user, and behind it,
// where PTXASW_STORE names one, a store that a farm shares.
//
//   const Kind decisions{"decisions", 3};
//   Store store(settings_from(variables));
//   const Key key = key_of({text, options, version});
//   if (auto found = store.get(decisions, key)) use(found->bytes, found->trusted);
//   store.put(decisions, key, bytes);
//
// Entries may be of many megabytes (largest_entry); get() reads them into memory and has compared
// their checksum. On disk an entry is FOLDER/ab/abcd..., a header of 128 bytes and then the bytes
// (entry.hpp): who wants to map a file maps it and skips the header. Files are never changed in
// place, so that what is mapped stays.
//
// Whom to trust: what only this user could have written, or what bears the seal of the user's
// secret, is `trusted`, and as good as if it had been computed here. Everything else may be
// anybody's: take it as a proposal, and check it as if it had been guessed.
//
// Nothing here throws, prints, or waits for longer than its time-outs (remote.hpp); every failure
// is a miss. A server that failed once is not asked again by this process, and for half a minute by
// none that has the same folder: a build is held up once, and told once. A store may be used by
// many threads and processes at a time.
#pragma once

#include "store/entry.hpp"
#include "store/folder.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::store {

struct Settings {
  std::string folder;                           // of this user; empty: none
  std::uint64_t limit = std::uint64_t{1} << 30; // bytes in that folder
  std::string remote;                           // what stands behind it (remote.hpp); empty: none
  std::string secret; // what is taken from there must bear its seal; empty: no seals
  std::vector<std::string> complaints; // what was wrong with the variables, in words
};

// As the environment says: PTXASW_STORE, PTXASW_STORE_SIZE (bytes, or with K, M, G),
// PTXASW_STORE_SECRET (a file, which nobody but the user may read).
[[nodiscard]] Settings settings_from(const Variables& variables);

struct Found {
  std::string bytes;
  bool trusted = false;
};

class Store {
public:
  // `warn` gets one line, at most once.
  using Warn = std::function<void(const std::string& line)>;
  explicit Store(Settings settings, Warn warn = {});
  ~Store();

  [[nodiscard]] std::optional<Found> get(const Kind& kind, const Key& key);
  void put(const Kind& kind, const Key& key, std::string_view bytes);

private:
  struct Behind; // what is known of the store behind the folder

  void count(const Kind& kind, std::string_view what) const;
  [[nodiscard]] std::optional<Found> local(const Kind& kind, const Key& place) const;
  [[nodiscard]] std::optional<Found> remote(const Kind& kind, const Key& place);

  std::string secret_;
  std::optional<Folder> local_;
  std::unique_ptr<Behind> behind_;
};

} // namespace ptxasw::store
