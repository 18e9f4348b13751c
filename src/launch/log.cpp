// Each line is one write.
#include "launch/log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

std::atomic<bool> is_on{false};

void write_line(const char* format, va_list values) {
  std::array<char, 1024> line{};
  const int head = std::snprintf(line.data(), line.size(), "ptxasw launch: ");
  const int size = std::vsnprintf(line.data() + head,
                                  line.size() - 1U - static_cast<unsigned>(head), format, values);
  const auto end = static_cast<std::size_t>(
      std::clamp(head + std::max(size, 0), 0, static_cast<int>(line.size()) - 2));
  line.at(end) = '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), end + 1);
}

} // namespace

void set_log(bool on) {
  is_on = on;
}

void log(const char* format, ...) {
  if (!is_on.load(std::memory_order_relaxed)) return;
  va_list values;
  va_start(values, format);
  write_line(format, values);
  va_end(values);
}

void say(const char* format, ...) {
  va_list values;
  va_start(values, format);
  write_line(format, values);
  va_end(values);
}

} // namespace ptxasw::launch
