// A file descriptor that closes itself.
#pragma once

#include <unistd.h>
#include <utility>

namespace ptxasw::store {

class Descriptor {
public:
  explicit Descriptor(int number = -1) : fd(number) {}
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }

  [[nodiscard]] int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd;
};

} // namespace ptxasw::store
