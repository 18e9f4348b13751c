// Stores behind the folder: a shared folder, and servers that answer whatever a test wants.
#include "store/remote.hpp"

#include "folder_of_its_own.hpp"
#include "store/descriptor.hpp"
#include "store/seal.hpp"
#include "store/store.hpp"

#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>

namespace ptxasw::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Kind texts{"texts", 7};
constexpr std::string_view secret = "0123456789abcdef";

// Takes connections one after another, says something to each, and ends it; or waits with that.
class TestServer {
public:
  explicit TestServer(std::string answer, std::chrono::milliseconds wait = {}) {
    socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), any, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    EXPECT_EQ(::getsockname(socket_.get(), any, &size), 0);
    port = std::to_string(ntohs(address.sin_port));
    thread_ = std::jthread([this, answer = std::move(answer), wait](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        pollfd waiting{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&waiting, 1, 10) != 1) continue;
        const Descriptor client(::accept(socket_.get(), nullptr, nullptr));
        ++asked;
        std::string request(1 << 16, '\0');
        [[maybe_unused]] auto n = ::recv(client.get(), request.data(), request.size(), 0);
        for (auto left = wait; left.count() > 0 && !stop.stop_requested();
             left -= std::chrono::milliseconds(10))
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        n = ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    });
  }
  std::string port;
  std::atomic<unsigned> asked = 0;

private:
  Descriptor socket_;
  std::jthread thread_;
};

class RemoteTest : public testing::Test {
protected:
  Store store(const std::string& remote, std::string_view with_secret = {}) {
    Settings settings{.folder = local, .remote = remote, .secret = std::string(with_secret)};
    return Store(settings, [this](const std::string& line) { warnings.push_back(line); });
  }
  void forget_local() const { std::filesystem::remove_all(local); }

  FolderOfItsOwn folder;
  std::string local = folder.path + "/local", shared = folder.path + "/shared";
  std::vector<std::string> warnings;
  Key key = key_of({"question"});
};

TEST_F(RemoteTest, AFolderIsAskedWhereTheUsersOwnHasNothing) {
  store(shared).put(texts, key, "answer");
  forget_local();
  const auto found = store(shared).get(texts, key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, "answer");
  EXPECT_TRUE(found->trusted) << "nobody else can write there";
  std::filesystem::remove_all(shared);
  EXPECT_TRUE(store(shared).get(texts, key)) << "it is here now, too";
  forget_local();
  EXPECT_FALSE(store(shared).get(texts, key));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(RemoteTest, WhatOthersCanWriteIsAProposalAndIsNotKeptUnseen) {
  store(shared).put(texts, key, "answer");
  ::chmod(shared.c_str(), 0777);
  forget_local();
  EXPECT_FALSE(store(shared).get(texts, key)->trusted);
  EXPECT_FALSE(store("").get(texts, key)) << "it is not here";
  store(shared).put(texts, key, "answer"); // by a caller who has looked
  EXPECT_TRUE(store("").get(texts, key)->trusted);
}

TEST_F(RemoteTest, WithASecretOnlyWhatIsSealedIsTaken) {
  if (!can_seal()) GTEST_SKIP() << "built without libnettle";
  store(shared).put(texts, key, "unsealed");
  forget_local();
  EXPECT_FALSE(store(shared, secret).get(texts, key));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("does not bear the seal")));
  store(shared, secret).put(texts, key, "sealed");
  ::chmod(shared.c_str(), 0777);
  forget_local();
  EXPECT_TRUE(store(shared, secret).get(texts, key)->trusted);
  EXPECT_TRUE(store("").get(texts, key)->trusted);
  forget_local();
  EXPECT_FALSE(store(shared, "another secret, as long").get(texts, key));
}

TEST_F(RemoteTest, WhatIsOfThisMachineStaysHere) {
  store(shared).put({"texts", 7, false}, key, "answer");
  EXPECT_FALSE(std::filesystem::exists(shared));
}

TEST_F(RemoteTest, NamesThatMeanNothingAreToldAndIgnored) {
  for (const char* name : {"ftp://host", "relative/folder", "http://", "http://:80",
                           "redis://host:x/0", "http://host:/", "http://[::1"}) {
    warnings.clear();
    Store made = store(name);
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("ignored"))) << name;
    made.put(texts, key, "answer");
    EXPECT_TRUE(made.get(texts, key));
  }
  EXPECT_EQ(shown("redis://me:password@host/0"), "redis://host/0");
  EXPECT_EQ(shown("/folder@5"), "/folder@5");
}

TEST_F(RemoteTest, AServerThatIsNotThereIsToldOnceAndLeftAlone) {
  std::string port;
  { port = TestServer("").port; }
  for (const std::string scheme : {"http", "redis"}) {
    warnings.clear();
    forget_local();
    const std::string name = scheme + "://127.0.0.1:" + port;
    Store made = store(name);
    EXPECT_FALSE(made.get(texts, key));
    EXPECT_FALSE(made.get(texts, key_of({"other"})));
    EXPECT_FALSE(store(name).get(texts, key)) << "by another process";
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("Connection refused"))) << scheme;
  }
}

TEST_F(RemoteTest, ASlowServerCostsItsTimeOnce) {
  for (const std::string scheme : {"http", "redis"}) {
    warnings.clear();
    forget_local();
    const TestServer slow("", std::chrono::seconds(5));
    const std::string name = scheme + "://127.0.0.1:" + slow.port;
    const auto start = std::chrono::steady_clock::now();
    Store made = store(name);
    EXPECT_FALSE(made.get(texts, key));
    made.put(texts, key, "answer");
    EXPECT_FALSE(store(name).get(texts, key_of({"other"})));
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, std::chrono::milliseconds(190));
    EXPECT_LT(took, std::chrono::milliseconds(390));
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("no answer in time"))) << scheme;
    EXPECT_EQ(slow.asked, 1U);
  }
}

TEST_F(RemoteTest, WhateverAServerSaysIsNoAnswerIfItIsNone) {
  const std::string damaged = pack(texts, key, "answer", {});
  const auto http = [](const std::string& body) {
    return "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  for (const std::string& answer :
       {std::string(), std::string("\r\n\r\n"), std::string("HTTP/1.1"),
        std::string("HTTP/1.1 200"), std::string("HTTP/1.1 200 OK\r\n\r\n"),
        std::string("HTTP/1.1 abc OK\r\n\r\n"), std::string("HTTP/1.1 500 no\r\n\r\n"),
        std::string("HTTP/1.1 301 there\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"),
        std::string(1 << 20, 'x'), http("garbage"), http(damaged)}) {
    forget_local();
    warnings.clear();
    const TestServer server(answer);
    EXPECT_FALSE(store("http://127.0.0.1:" + server.port).get(texts, key)) << answer.substr(0, 99);
    EXPECT_EQ(warnings.size(), 1U) << answer.substr(0, 99);
  }
  for (const std::string& answer :
       {std::string(), std::string("$-1"), std::string("+OK\r\n"), std::string(":5\r\n"),
        std::string("-NOAUTH Authentication required.\r\n"), std::string("$100\r\nx\r\n"),
        std::string("$99999999999999\r\nx"), std::string("*1000000000\r\n"),
        std::string("$7\r\ngarbage\r\n"), std::string("HTTP/1.1 400 Bad Request\r\n\r\n"),
        std::string(1 << 20, '*')}) {
    forget_local();
    warnings.clear();
    const TestServer server(answer);
    EXPECT_FALSE(store("redis://127.0.0.1:" + server.port).get(texts, key)) << answer.substr(0, 99);
    EXPECT_EQ(warnings.size(), 1U) << answer.substr(0, 99);
  }
}

TEST_F(RemoteTest, AFullServerIsStillAsked) {
  const TestServer full("HTTP/1.1 507 Insufficient Storage\r\n\r\n");
  Store made = store("http://127.0.0.1:" + full.port);
  made.put(texts, key, "answer");
  made.put(texts, key_of({"other"}), "answer");
  EXPECT_EQ(full.asked, 1U) << "but not given more";
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("507")));
  forget_local();
  (void)made.get(texts, key);
  EXPECT_EQ(full.asked, 2U);
}

} // namespace
} // namespace ptxasw::store
