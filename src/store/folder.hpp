// A folder of entries, one file each in one of 256 folders below it, named by their keys.
//
// Each is written beside its place and renamed, so that readers see all of it or nothing, however
// many processes there are and however they end. What has not been used for longest goes when there
// is too much. Every error is a miss; nothing here ends or holds up a build.
#pragma once

#include "store/counters.hpp"
#include "store/entry.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::store {

// The value of an environment variable, or nothing.
using Variables = std::function<std::optional<std::string>(std::string_view)>;

// ${XDG_CACHE_HOME:-~/.cache}/ptxasw, or empty where there is neither.
[[nodiscard]] std::string usual_folder(const Variables& variables);

class Folder {
public:
  enum class Users : std::uint8_t {
    owner, // nobody else may read or write what is made here
    all,   // as the umask says
  };
  // `limit`: bytes on disk; beyond it a fifth of it goes.
  Folder(std::string path, Users users, std::uint64_t limit)
      : path_(std::move(path)), users_(users), limit_(limit) {}

  struct File {
    std::string entry;
    bool ours = false; // nobody but the user could have written it
  };
  [[nodiscard]] std::optional<File> read(const Key& key) const;
  bool write(const Key& key, std::string_view entry) const;
  void remove(const Key& key) const;

  // Adds to the folder's counters, if there is a folder.
  void count(const std::string& name) const;

  // Notes for other processes: something of this name happened less than half a minute ago.
  [[nodiscard]] bool is_noted(const std::string& name) const;
  bool note(const std::string& name) const; // false: another one has noted it already

  struct Content {
    std::uint64_t files = 0, bytes = 0;
  };
  [[nodiscard]] Content content() const;
  [[nodiscard]] Counts counts() const { return counters().read(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t limit() const { return limit_; }

private:
  [[nodiscard]] Counters counters() const { return Counters(path_ + "/counters"); }
  [[nodiscard]] std::string folder_of(const Key& key) const;
  [[nodiscard]] std::string file_of(const Key& key) const;
  [[nodiscard]] bool make(const std::string& path) const;
  void added(std::uint64_t bytes) const;
  void sweep() const;

  std::string path_;
  Users users_;
  std::uint64_t limit_;
};

// Entries of this machine and user alone, in their places. Read: nothing where there is none, or
// one that somebody else could have written; no bytes where it is broken.
[[nodiscard]] std::optional<std::string> read_own(const Folder& entries, const Kind& kind,
                                                  const Key& key);
bool write_own(const Folder& entries, const Kind& kind, const Key& key, std::string_view bytes);
// What is small is kept whatever there is: whoever writes what is large makes room.
inline constexpr std::uint64_t no_limit = std::numeric_limits<std::int64_t>::max();

} // namespace ptxasw::store
