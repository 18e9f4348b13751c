// The C library asks name servers for as long as it likes, so a thread of its own does that, and is
// left alone where it takes too long.
#include "store/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace ptxasw::store {
namespace {

using Clock = Connection::Clock;

struct Address {
  int family = 0;
  std::string bytes; // a sockaddr
};

struct Answer {
  std::string failure;
  std::vector<Address> addresses;
};

Answer ask(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Answer answer;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
    return {.failure = ::gai_strerror(error)};
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next)
    answer.addresses.push_back(
        {at->ai_family,
         {reinterpret_cast<const char*>(at->ai_addr), at->ai_addrlen}}); // NOLINT: a sockaddr
  ::freeaddrinfo(found);
  return answer;
}

Answer resolved(const std::string& host, const std::string& port, Clock::time_point until) {
  if (Answer numeric = ask(host, port, AI_NUMERICHOST); numeric.failure.empty()) return numeric;
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Answer> answer;
  };
  const auto shared = std::make_shared<Shared>();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before); // signals are for the program's own threads
  std::thread([shared, host, port] {
    Answer answer = ask(host, port, 0);
    const std::lock_guard lock(shared->mutex);
    shared->answer = std::move(answer);
    shared->changed.notify_all();
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::unique_lock lock(shared->mutex);
  if (!shared->changed.wait_until(lock, until, [&] { return shared->answer.has_value(); }))
    return {.failure = "its address was not found in time"};
  return *shared->answer;
}

bool wait_on(int socket, short event, Clock::time_point until) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd what{.fd = socket, .events = event, .revents = 0};
    const int n = ::poll(&what, 1, static_cast<int>(left));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

std::string failure_of(int error) {
  return std::strerror(error);
}

const char* const too_late = "no answer in time";

} // namespace

tl::expected<Connection, std::string>
Connection::open(const std::string& host, const std::string& port, std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  const Answer answer = resolved(host, port, until);
  std::string failure = answer.failure;
  for (const Address& address : answer.addresses) {
    Descriptor socket(::socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_storage target{};
    std::memcpy(&target, address.bytes.data(), std::min(address.bytes.size(), sizeof target));
    const int done =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&target), // NOLINT: a sockaddr
                  static_cast<socklen_t>(address.bytes.size()));
    int error = done == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      if (!wait_on(socket.get(), POLLOUT, until)) {
        failure = too_late;
        continue;
      }
      socklen_t size = sizeof error;
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) return Connection(std::move(socket), until);
    failure = failure_of(error);
  }
  return tl::unexpected(failure.empty() ? "it has no address" : failure);
}

bool Connection::wait_for(short event) const {
  return wait_on(socket_.get(), event, until_);
}

tl::expected<void, std::string> Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_for(POLLOUT)) return tl::unexpected(too_late);
    const ssize_t n = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR && errno != EAGAIN)
      return tl::unexpected(failure_of(errno));
  }
  return {};
}

tl::expected<std::string, std::string> Connection::receive() {
  std::string bytes(std::size_t{1} << 16, '\0');
  for (;;) {
    if (!wait_for(POLLIN)) return tl::unexpected(too_late);
    const ssize_t n = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (n >= 0) {
      bytes.resize(static_cast<std::size_t>(n));
      return bytes;
    }
    if (errno != EINTR && errno != EAGAIN) return tl::unexpected(failure_of(errno));
  }
}

} // namespace ptxasw::store
