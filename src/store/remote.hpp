// A store that is somewhere else, named by PTXASW_STORE:
//
//   /shared/ptxasw                       a folder, of a network file system for example
//   http://host[:80][/path]              GET and PUT of [/path]/ac/<64 digits>, as bazel-remote
//   (with
//                                        --disable_http_ac_validation) and nginx (its dav module,
//                                        create_full_put_path on) serve them
//   redis://[:password@]host[:6379][/0]  GET and SET of ptxasw:<32 digits>
//
// Each question takes 200 ms at most, from finding the server's address to the last byte; each has
// a connection of its own, so that none is left in the middle of something. A folder takes what its
// file system takes. Nothing that a server says is believed: entries are unpacked by the caller.
#pragma once

#include "store/entry.hpp"

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::store {

class Remote {
public:
  Remote() = default;
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;
  virtual ~Remote() = default;

  struct Entry {
    std::string bytes;
    bool ours = false; // nobody but the user could have written it
  };
  // Nothing where it has none; or why it cannot be asked, which will be so the next time, too.
  virtual tl::expected<std::optional<Entry>, std::string> read(const Key& key) = 0;

  struct Failure {
    std::string why;
    bool is_down = true; // or it only takes no entries
  };
  virtual tl::expected<void, Failure> write(const Key& key, std::string_view entry) = 0;
};

// Or what is wrong with the name.
[[nodiscard]] tl::expected<std::unique_ptr<Remote>, std::string> remote_at(const std::string& name,
                                                                           std::uint64_t limit);
// Without a password: to be shown.
[[nodiscard]] std::string shown(const std::string& name);

struct Server {
  std::string user, password, host, port;
  std::string path; // "/..." or empty
};
[[nodiscard]] std::unique_ptr<Remote> http_at(const Server& server);
[[nodiscard]] tl::expected<std::unique_ptr<Remote>, std::string> redis_at(const Server& server);

} // namespace ptxasw::store
