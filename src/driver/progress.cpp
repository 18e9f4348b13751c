#include "driver/progress.hpp"

#include "driver/files.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace ptxasw::driver {
namespace {

constexpr double silent = 2;        // seconds of work that nobody needs to be told of
constexpr double between = 0.2;     // two drawings
constexpr std::size_t columns = 79; // that any terminal has
constexpr const char* erase = "\r\x1b[K";

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Progress::Sink terminal() {
  if (::isatty(STDERR_FILENO) != 1) return {};
  return [](std::string_view text) { write_all(STDERR_FILENO, text); };
}

std::string whole(double value) {
  return std::to_string(static_cast<std::uint64_t>(std::llround(value)));
}

} // namespace

std::string about(double seconds) {
  constexpr double minute = 60, hour = 3600;
  if (seconds < 10) return whole(std::max(1.0, seconds)) + " s";
  if (seconds < 2 * minute) return whole(std::round(seconds / 5) * 5) + " s";
  if (seconds < 2 * hour) return whole(seconds / minute) + " min";
  const double hours = std::floor(seconds / hour);
  return whole(hours) + " h " + whole(std::floor((seconds - hours * hour) / minute)) + " min";
}

Progress::Progress(std::string what) : Progress(std::move(what), terminal(), steady_seconds) {}

Progress::Progress(std::string what, Sink sink, Clock clock)
    : what_(std::move(what)), sink_(std::move(sink)), clock_(std::move(clock)) {
  begun_ = round_begun_ = drawn_ = clock_();
}

Progress::~Progress() {
  if (visible_) sink_(erase);
}

void Progress::at(std::uint64_t done, std::uint64_t of, std::string_view now) {
  if (!sink_) return;
  const std::lock_guard lock(mutex_);
  const double time = clock_();
  if (done < done_) round_begun_ = time;
  done_ = done;
  if (time - begun_ < silent || (visible_ && time - drawn_ < between)) return;
  sink_(erase + line(done, of, now, time));
  drawn_ = time;
  visible_ = true;
}

std::string Progress::line(std::uint64_t done, std::uint64_t of, std::string_view now,
                           double time) const {
  std::string text = what_;
  if (!now.empty()) text.append(" ").append(now);
  text += ": " + std::to_string(done);
  if (of != 0) text += " of " + std::to_string(of);
  double left = -1;
  if (of != 0 && done != 0)
    left = (time - round_begun_) / static_cast<double>(done) *
           static_cast<double>(of - std::min(of, done));
  if (limit_ != 0) {
    const double most = std::max(0.0, limit_ - (time - begun_));
    left = left < 0 ? most : std::min(left, most);
  }
  text += ", " + about(time - begun_) + " so far";
  if (left >= 0) text += ", about " + about(left) + " left";
  return text.substr(0, columns);
}

} // namespace ptxasw::driver
