// Which kind of store a name means.
#include "store/remote.hpp"

#include "store/folder.hpp"

namespace ptxasw::store {
namespace {

class SharedFolder : public Remote {
public:
  SharedFolder(std::string path, std::uint64_t limit)
      : folder_(std::move(path), Folder::Users::all, limit) {}

  tl::expected<std::optional<Entry>, std::string> read(const Key& key) override {
    auto file = folder_.read(key);
    if (!file) return std::nullopt;
    return Entry{std::move(file->entry), file->ours};
  }
  tl::expected<void, Failure> write(const Key& key, std::string_view entry) override {
    if (folder_.write(key, entry)) return {};
    return tl::unexpected(Failure{"it cannot be written to", false});
  }

private:
  Folder folder_;
};

// Behind "scheme://". Nothing where there is no host.
std::optional<Server> server_of(std::string_view name, std::string_view usual_port) {
  Server server{.port = std::string(usual_port)};
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos) server.path = name.substr(slash);
  name = name.substr(0, slash);
  if (const std::size_t at = name.rfind('@'); at != std::string_view::npos) {
    const std::string_view who = name.substr(0, at);
    const std::size_t colon = who.find(':');
    server.user = who.substr(0, colon);
    if (colon != std::string_view::npos) server.password = who.substr(colon + 1);
    name.remove_prefix(at + 1);
  }
  const std::size_t end = name.starts_with('[') ? name.find(']') + 1 : name.find(':');
  server.host = name.substr(0, end);
  if (end < name.size()) server.port = name.substr(end + 1);
  if (server.host.starts_with('[')) server.host = server.host.substr(1, server.host.size() - 2);
  const bool is_number =
      !server.port.empty() && server.port.find_first_not_of("0123456789") == std::string::npos;
  if (server.host.empty() || !is_number) return std::nullopt;
  return server;
}

} // namespace

tl::expected<std::unique_ptr<Remote>, std::string> remote_at(const std::string& name,
                                                             std::uint64_t limit) {
  const auto is = [&](std::string_view scheme) { return name.starts_with(scheme); };
  if (is("file:///")) return remote_at(name.substr(7), limit);
  if (is("/")) return std::make_unique<SharedFolder>(name, limit);
  if (is("http://")) {
    if (const auto server = server_of(std::string_view(name).substr(7), "80"))
      return http_at(*server);
  } else if (is("redis://")) {
    if (const auto server = server_of(std::string_view(name).substr(8), "6379"))
      return redis_at(*server);
  }
  return tl::unexpected<std::string>(
      "not a store: give /folder, http://host[:port][/path] or redis://[:password@]host[:port]/0");
}

std::string shown(const std::string& name) {
  const std::size_t scheme = name.find("://"), at = name.rfind('@');
  if (scheme == std::string::npos || at == std::string::npos) return name;
  return name.substr(0, scheme + 3) + name.substr(at + 1);
}

} // namespace ptxasw::store
