// A TCP connection to a server of which nothing is known: all that is done over it, finding its
// address included, is done in a given time or fails. It raises no signal.
#pragma once

#include "store/descriptor.hpp"

#include <tl/expected.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace ptxasw::store {

// An answer that comes later is no help to a build.
constexpr std::chrono::milliseconds time_limit{200};

class Connection {
public:
  using Clock = std::chrono::steady_clock;
  static tl::expected<Connection, std::string>
  open(const std::string& host, const std::string& port, std::chrono::milliseconds time);

  // Why it could not all be sent.
  tl::expected<void, std::string> send(std::string_view bytes);
  // Some bytes; none where the server has ended the connection.
  tl::expected<std::string, std::string> receive();

private:
  Connection(Descriptor socket, Clock::time_point until)
      : socket_(std::move(socket)), until_(until) {}
  [[nodiscard]] bool wait_for(short event) const;

  Descriptor socket_;
  Clock::time_point until_;
};

} // namespace ptxasw::store
