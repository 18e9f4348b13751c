// What is said to Redis and what it answers is written and read by hiredis, linked statically; the
// connection is ours, since that of hiredis waits by the answer and not by the clock, and may raise
// SIGPIPE.
#include "store/connection.hpp"
#include "store/remote.hpp"

#ifdef PTXASW_HIREDIS
#include <hiredis/hiredis.h>
#endif

#include <vector>

namespace ptxasw::store {

#ifdef PTXASW_HIREDIS
namespace {

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

struct FreeReader {
  void operator()(redisReader* reader) const { redisReaderFree(reader); }
};

std::string command(std::initializer_list<std::string_view> words) {
  std::vector<const char*> begins;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    begins.push_back(word.data());
    sizes.push_back(word.size());
  }
  char* text = nullptr;
  const long long size =
      redisFormatCommandArgv(&text, static_cast<int>(words.size()), begins.data(), sizes.data());
  if (size < 0) return {};
  std::string result(text, static_cast<std::size_t>(size));
  redisFreeCommand(text);
  return result;
}

class Redis : public Remote {
public:
  explicit Redis(Server server) : server_(std::move(server)) {
    database_ = server_.path.size() > 1 ? server_.path.substr(1) : "0";
  }

  tl::expected<std::optional<Entry>, std::string> read(const Key& key) override {
    const auto reply = ask(command({"GET", name_of(key)}));
    if (!reply) return tl::unexpected(reply.error());
    if ((*reply)->type == REDIS_REPLY_NIL) return std::nullopt;
    if ((*reply)->type != REDIS_REPLY_STRING) return tl::unexpected(said(**reply));
    return Entry{std::string((*reply)->str, (*reply)->len), false};
  }

  tl::expected<void, Failure> write(const Key& key, std::string_view entry) override {
    const auto reply = ask(command({"SET", name_of(key), entry}));
    if (!reply) return tl::unexpected(Failure{reply.error()});
    if ((*reply)->type != REDIS_REPLY_STATUS) return tl::unexpected(Failure{said(**reply), false});
    return {};
  }

private:
  static std::string name_of(const Key& key) { return "ptxasw:" + hexadecimal(key); }

  static std::string said(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ERROR) return "it answers what was not asked";
    return "it answers: " + std::string(reply.str, reply.len).substr(0, 100);
  }

  // Who we are, which database, and the command, in one go; the answer to the last one.
  [[nodiscard]] tl::expected<Reply, std::string> ask(const std::string& what) const {
    auto connection = Connection::open(server_.host, server_.port, time_limit);
    if (!connection) return tl::unexpected(connection.error());
    std::string all;
    int before = 0;
    if (!server_.password.empty()) {
      all += server_.user.empty() ? command({"AUTH", server_.password})
                                  : command({"AUTH", server_.user, server_.password});
      ++before;
    }
    if (database_ != "0") {
      all += command({"SELECT", database_});
      ++before;
    }
    if (const auto sent = connection->send(all + what); !sent) return tl::unexpected(sent.error());
    const std::unique_ptr<redisReader, FreeReader> reader(redisReaderCreate());
    if (!reader) return tl::unexpected<std::string>("no memory");
    // No array is an answer to what is asked here; one of a billion elements would take seconds.
    redisReplyObjectFunctions functions = *reader->fn;
    functions.createArray = [](auto...) -> void* { return nullptr; };
    reader->fn = &functions;
    for (; before > 0; --before) {
      auto reply = next(*connection, *reader);
      if (!reply) return reply;
      if ((*reply)->type != REDIS_REPLY_STATUS) return tl::unexpected(said(**reply));
    }
    return next(*connection, *reader);
  }

  static tl::expected<Reply, std::string> next(Connection& connection, redisReader& reader) {
    for (std::size_t size = 0; size <= header_size + largest_entry;) {
      void* reply = nullptr;
      if (redisReaderGetReply(&reader, &reply) != REDIS_OK)
        return tl::unexpected<std::string>("what it answers is not Redis' protocol");
      if (reply != nullptr) return Reply(static_cast<redisReply*>(reply));
      const auto more = connection.receive();
      if (!more) return tl::unexpected(more.error());
      if (more->empty()) return tl::unexpected<std::string>("it ended the connection too early");
      redisReaderFeed(&reader, more->data(), more->size());
      size += more->size();
    }
    return tl::unexpected<std::string>("it answers too much");
  }

  Server server_;
  std::string database_;
};

} // namespace

tl::expected<std::unique_ptr<Remote>, std::string> redis_at(const Server& server) {
  return std::make_unique<Redis>(server);
}

#else

tl::expected<std::unique_ptr<Remote>, std::string> redis_at(const Server& /*server*/) {
  return tl::unexpected<std::string>("this ptxasw was built without hiredis");
}

#endif

} // namespace ptxasw::store
