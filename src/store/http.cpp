// HTTP/1.0, in which an answer ends where the server ends the connection, and is one piece.
#include "store/connection.hpp"
#include "store/remote.hpp"
#include "words/words.hpp"

#include <algorithm>
#include <cctype>

namespace ptxasw::store {
namespace {

constexpr std::size_t largest_head = std::size_t{1} << 14;

struct Response {
  unsigned status = 0;
  std::string body;
};

// The value of a field in the head of a response.
std::optional<std::string_view> field(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;
       at = head.find("\r\n", at + 2)) {
    std::string_view line = head.substr(at + 2);
    line = line.substr(0, line.find("\r\n"));
    const bool is_it =
        line.size() > name.size() && line[name.size()] == ':' &&
        std::ranges::equal(line.substr(0, name.size()), name, {}, [](unsigned char letter) {
          return static_cast<char>(std::tolower(letter));
        });
    if (!is_it) continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    return line;
  }
  return std::nullopt;
}

std::string in_base_64(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t n = 0; n < bytes.size(); n += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = n; i < n + 3; ++i)
      three = three << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += n + i <= bytes.size() ? letters[(three >> (18 - 6 * i)) & 63] : '=';
  }
  return text;
}

class Http : public Remote {
public:
  explicit Http(Server server) : server_(std::move(server)) {
    while (server_.path.ends_with('/'))
      server_.path.pop_back();
  }

  tl::expected<std::optional<Entry>, std::string> read(const Key& key) override {
    auto response = ask("GET", key, {});
    if (!response) return tl::unexpected(response.error());
    if (response->status == 404 || response->status == 410) return std::nullopt;
    if (response->status != 200) return tl::unexpected(status_text(*response));
    return Entry{std::move(response->body), false};
  }

  tl::expected<void, Failure> write(const Key& key, std::string_view entry) override {
    const auto response = ask("PUT", key, entry);
    if (!response) return tl::unexpected(Failure{response.error()});
    if (response->status / 100 != 2) return tl::unexpected(Failure{status_text(*response), false});
    return {};
  }

private:
  static std::string status_text(const Response& response) {
    return "it answers with status " + std::to_string(response.status);
  }

  [[nodiscard]] std::string request(std::string_view method, const Key& key,
                                    std::string_view body) const {
    const std::string name = hexadecimal(key);
    const bool has_body = method == "PUT";
    std::string text = std::string(method) + ' ' + server_.path + "/ac/" + name + name +
                       " HTTP/1.0\r\nHost: " + server_.host + ':' + server_.port +
                       "\r\nUser-Agent: ptxasw\r\n";
    if (!server_.user.empty() || !server_.password.empty())
      text += "Authorization: Basic " + in_base_64(server_.user + ':' + server_.password) + "\r\n";
    if (has_body)
      text += "Content-Type: application/octet-stream\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n";
    return (text += "\r\n").append(body);
  }

  [[nodiscard]] tl::expected<Response, std::string> ask(std::string_view method, const Key& key,
                                                        std::string_view body) const {
    auto connection = Connection::open(server_.host, server_.port, time_limit);
    if (!connection) return tl::unexpected(connection.error());
    // A server may refuse what it is sent before it has read it all; what it says then counts.
    const auto sent = connection->send(request(method, key, body));
    auto response = receive(*connection);
    if (!response && !sent) return tl::unexpected(sent.error());
    return response;
  }

  static tl::expected<Response, std::string> receive(Connection& connection) {
    const auto odd = [] { return tl::unexpected<std::string>("what it answers is no HTTP"); };
    std::string all;
    std::size_t head_size = std::string::npos, whole = std::string::npos;
    Response response;
    while (all.size() < whole) {
      auto more = connection.receive();
      if (!more) return tl::unexpected(more.error());
      if (more->empty()) break;
      all += *more;
      if (all.size() > largest_head + header_size + largest_entry) return odd();
      if (head_size != std::string::npos) continue;
      head_size = all.find("\r\n\r\n");
      if (head_size == std::string::npos) {
        if (all.size() > largest_head) return odd();
        continue;
      }
      const std::string_view head = std::string_view(all).substr(0, head_size);
      const auto status =
          words::number<std::uint64_t>(head.substr(std::min<std::size_t>(9, head.size()), 3));
      if (!head.starts_with("HTTP/1.") || !status || field(head, "transfer-encoding")) return odd();
      response.status = static_cast<unsigned>(*status);
      if (const auto length = field(head, "content-length")) {
        const auto size = words::number<std::uint64_t>(*length);
        if (!size || *size > header_size + largest_entry) return odd();
        whole = head_size + 4 + *size;
      }
    }
    if (head_size == std::string::npos) return odd();
    if (whole != std::string::npos && all.size() < whole)
      return tl::unexpected<std::string>("it ended the connection too early");
    response.body =
        all.substr(head_size + 4, whole == std::string::npos ? whole : whole - head_size - 4);
    return response;
  }

  Server server_;
};

} // namespace

std::unique_ptr<Remote> http_at(const Server& server) {
  return std::make_unique<Http>(server);
}

} // namespace ptxasw::store
