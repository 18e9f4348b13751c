// Lengths of runs, and the times from the begin of one to the begin of the next.
#include "launch/kernels/period.hpp"

#include "launch/log.hpp"
#include "launch/median.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ptxasw::launch {
namespace {

// Periods of either kind, so many in a row, of which the first one is not counted, until there are
// times enough of both; or so few, where merged ones are clearly slower.
constexpr unsigned periods_in_a_row = 3, enough_periods = 4, few_periods = 2;
constexpr unsigned most_runs_needed = 64;

} // namespace

bool Period::is_tried() const {
  return expected() != 0 && expected() < numbers::launch::least_run && !verdict().is_decided;
}

bool Period::merges() const {
  if (verdict().is_decided) return verdict().goes_merged;
  return expected() >= numbers::launch::least_run ||
         (!is_young_ && passes_ / periods_in_a_row % 2 != 0);
}

// A program that does not wait for the device is as fast as the slower one of both.
void Period::time(Clock::time_point now, const RunTimes& on_device) {
  auto& [is_decided, goes_merged, times] = verdict();
  if (std::exchange(is_timed_, true) && passes_ % periods_in_a_row != 1)
    times[was_merged_ ? 1 : 0].push_back(
        std::chrono::duration<double, std::micro>(now - begun_).count());
  begun_ = now;
  if (std::min(times[0].size(), times[1].size()) < few_periods) return;
  const double singly = std::max(median(times[0]), on_device.singly),
               merged = std::max(median(times[1]), on_device.merged);
  const bool is_known = std::min(times[0].size(), times[1].size()) >= enough_periods;
  if (!is_known && merged <= numbers::launch::merged_hopeless * singly) return;
  is_decided = true;
  goes_merged = merged <= numbers::launch::merged_worth_it * singly;
  log("runs of %u steps: a period takes %.1f us as they come, %.1f us merged", length_, singly,
      merged);
}

void Period::end(unsigned length, bool was_merged, bool wasted) {
  if (std::exchange(is_partial_, false) && !was_merged && !wasted) return;
  was_merged_ = was_merged;
  if (length == length_ && !wasted) {
    seen_ = std::min(seen_ + 1, most_runs_needed);
    if (expected() == 0) return;
    ++passes_;
    if (was_merged) needed_ = 2;
    return;
  }
  if (wasted) needed_ = std::min(2 * needed_, most_runs_needed);
  length_ = length;
  seen_ = wasted ? 0 : 1;
  is_timed_ = false;
  passes_ = 0;
}

std::string Period::findings() const {
  std::string all;
  for (unsigned length = 0; length <= longest; ++length)
    if (const Verdict& found = verdicts_[length]; found.is_decided)
      all += std::to_string(length) + (found.goes_merged ? "+," : "-,");
  if (expected() != 0 && merges()) all += '=' + std::to_string(length_) + ',';
  if (!all.empty()) all.pop_back();
  return all;
}

void Period::recall(std::string_view findings) {
  while (!findings.empty()) {
    std::string_view word = findings.substr(0, findings.find(','));
    findings.remove_prefix(std::min(findings.size(), word.size() + 1));
    const bool is_expected = word.starts_with('=');
    if (is_expected) word.remove_prefix(1);
    unsigned length = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), length);
    if (read.ec != std::errc() || length == 0) continue;
    const std::string_view sign(read.ptr, word.data() + word.size());
    if (is_expected && sign.empty()) {
      length_ = length;
      seen_ = needed_;
    } else if (!is_expected && length <= longest && (sign == "+" || sign == "-")) {
      verdicts_[length].is_decided = true;
      verdicts_[length].goes_merged = sign == "+";
    }
  }
}

} // namespace ptxasw::launch
