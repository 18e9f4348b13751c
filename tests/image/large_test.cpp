// An image that cannot gain is passed over in no time, however large it is: of one as large as that
// of cuBLAS the headers are read, and no page more.
#include "image/headers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace ptxasw::image {
namespace {

constexpr std::size_t page = 4096, body = std::size_t{32} << 20;
constexpr unsigned entries = 16;

// Machine code for many chips, of which 90 is one, and no PTX. Bodies cannot be read, but for what
// lies in the page of a header.
class LargeImage {
public:
  LargeImage()
      : at_(static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (at_ == MAP_FAILED) return;
    put(0, std::uint32_t{0xba55ed50});
    put(4, std::uint16_t{1});
    put(6, std::uint16_t{16});
    put(8, std::uint64_t{entries} * body);
    for (unsigned n = 0; n < entries; ++n) {
      const std::size_t header = 16 + n * body;
      put(header, std::uint16_t{2});
      put(header + 4, std::uint32_t{64});
      put(header + 8, std::uint64_t{body - 64});
      put(header + 28, std::uint32_t{83 + n});
    }
    for (unsigned n = 0; n < entries; ++n)
      ::mprotect(at_ + n * body + page, body - page, PROT_NONE);
  }
  LargeImage(const LargeImage&) = delete;
  LargeImage& operator=(const LargeImage&) = delete;
  ~LargeImage() { ::munmap(at_, size); }
  [[nodiscard]] const char* data() const { return at_; }

private:
  static constexpr std::size_t size = 16 + entries * body;
  template <class T> void put(std::size_t at, T value) {
    std::memcpy(at_ + at, &value, sizeof value);
  }
  char* at_;
};

TEST(LargeImages, ArePassedOverByTheirHeaders) {
  const LargeImage image;
  ASSERT_NE(image.data(), MAP_FAILED);
  using namespace std::chrono_literals;
  auto fastest = std::chrono::nanoseconds(1h);
  for (int n = 0; n < 50; ++n) {
    const auto begin = std::chrono::steady_clock::now();
    const auto bytes = measured(image.data());
    ASSERT_TRUE(bytes);
    const Choice choice = choose(probe(*bytes), {90});
    fastest = std::min<std::chrono::nanoseconds>(fastest, std::chrono::steady_clock::now() - begin);
    EXPECT_EQ(choice.reason, Reason::no_text);
  }
  EXPECT_LT(fastest, 50us);
}

} // namespace
} // namespace ptxasw::image
