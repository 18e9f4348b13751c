// Collects images, and starts the process.
#include "launch/images/preparer.hpp"

#include "image/background.hpp"
#include "image/seen_sequences.hpp"
#include "launch/log.hpp"
#include "launch/own_thread.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

using namespace std::chrono_literals;
constexpr auto quiet = 100ms, longest_collected = 2000ms;
constexpr int looks_apart = 32; // times what one takes
constexpr auto longest_watched = 2h;
constexpr auto first_look = 1s; // for sequences; the next one behind twice the time
constexpr unsigned most_again = 4;
constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

} // namespace

Preparer::State& Preparer::state() {
  State* found = state_.load(std::memory_order_acquire);
  const pid_t process = ::getpid();
  if (found != nullptr && found->process == process) return *found;
  auto* const made = new State{.process = process, .environment = image::environment()};
  if (state_.compare_exchange_strong(found, made)) return *made;
  delete made;
  return *state_.load(std::memory_order_acquire);
}

bool Preparer::add(std::string_view chip, image::Bytes image, const LateVersions::Awaited& awaited,
                   When when) {
  State& now = state();
  std::string copy(image::words_of(image));
  const std::lock_guard lock(now.mutex);
  if (now.bytes + copy.size() > most_kept_bytes) return false;
  now.bytes += copy.size();
  now.waiting.push_back({.chip = std::string(chip),
                         .image = std::move(copy),
                         .awaited = awaited,
                         .is_awaited = when == When::now});
  now.more.notify_one();
  if (now.has_thread) return true;
  try {
    own_thread([this, &now] { work(now); }).detach();
    now.has_thread = true;
  } catch (const std::system_error&) { // no thread is to be had: at the end, then
  }
  return true;
}

// As long as there is something to come. Nobody says so: who prepares is no child of this process.
void Preparer::work(State& now) const {
  Watch watch;
  std::unique_lock lock(now.mutex);
  for (;;) {
    const auto latest = Clock::now() + longest_collected;
    for (std::size_t seen = 0; seen != now.waiting.size() && Clock::now() < latest;) {
      seen = now.waiting.size();
      now.more.wait_for(lock, quiet, [&] { return now.waiting.size() != seen; });
    }
    std::vector<Waiting> all = std::move(now.waiting);
    now.waiting.clear();
    lock.unlock();
    if (!all.empty()) begin(now, watch, std::move(all));
    const auto before = Clock::now();
    look(now, watch);
    const auto behind = Clock::now();
    lock.lock();
    if (!now.waiting.empty()) continue;
    if (watch.images.empty()) break;
    const auto least = behind + std::max<Clock::duration>(quiet, looks_apart * (behind - before));
    now.more.wait_until(lock, std::max(least, watch.due()), [&] { return !now.waiting.empty(); });
  }
  now.has_thread = false;
}

Preparer::Clock::time_point Preparer::Watch::due() const {
  Clock::time_point due = are_all ? Clock::time_point::max() : look_due;
  for (const Waiting& image : images)
    if (image.is_awaited) due = std::min(due, image.due);
  return due;
}

// To watch what came. Sequences of its launches may be seen soon.
void Preparer::begin(const State& now, Watch& watch, std::vector<Waiting> all) const {
  start(now, awaited_of(all));
  const auto time = Clock::now();
  if (watch.images.empty() || watch.look_due > time + first_look)
    watch.look_due = time + first_look;
  watch.since = time;
  watch.are_all = look_ == nullptr; // those that are known are asked for once more
  for (Waiting& each : all) {
    if (look_ == nullptr) each.image = {}; // it is not prepared again
    each.begun = time;
    each.due = time + quiet;
    if (auto found = each.is_awaited ? std::nullopt : image::find(folder_, each.awaited.key)) {
      each.kernels = std::move(found->kernels);
      each.sequences = found->sequences;
    }
    watch.images.push_back(std::move(each));
  }
}

// Nothing: what is there was known.
std::optional<image::Prepared> Preparer::come(Waiting& image) const {
  auto found = image::find(folder_, image.awaited.key);
  if (!found || found->edition() == image.awaited.known) return std::nullopt;
  image.awaited.known = found->edition();
  image.is_awaited = false;
  image.kernels = found->kernels;
  image.sequences = found->sequences;
  return found;
}

void Preparer::look(const State& now, Watch& watch) const {
  std::vector<Come> all;
  for (Waiting& image : watch.images) {
    const auto time = Clock::now();
    if (!image.is_awaited || time < image.due) continue;
    image.due = time + std::max<Clock::duration>(quiet, (time - image.begun) / 32);
    if (auto found = come(image)) all.push_back({image.awaited.key, std::move(*found)});
  }
  const bool have_come = !all.empty();
  if (have_come) news_(std::move(all));
  if (look_ != nullptr && (have_come || Clock::now() >= watch.look_due)) look_for_more(now, watch);
  std::erase_if(watch.images, [&, time = Clock::now()](const Waiting& image) {
    return (!image.is_awaited && watch.are_all) || time - image.begun > longest_watched;
  });
}

// Other sequences were seen than those that images were prepared with.
void Preparer::look_for_more(const State& now, Watch& watch) const {
  const auto time = Clock::now();
  watch.look_due = time + std::max<Clock::duration>(first_look, time - watch.since);
  if (!watch.are_all) {
    const Seen seen = look_();
    watch.are_all = seen.are_all;
    image::add_seen(folder_, seen.sequences);
  }
  const auto all = image::seen_in(folder_);
  std::vector<const Waiting*> again;
  for (Waiting& image : watch.images) {
    if (image.is_awaited || image.again == most_again ||
        image.sequences == image::hash_of(all, image.kernels))
      continue;
    image.is_awaited = true;
    image.begun = time;
    image.due = time + quiet;
    ++image.again;
    again.push_back(&image);
  }
  start(now, again);
}

void Preparer::finish() {
  if (state_.load(std::memory_order_acquire) == nullptr) return;
  State& now = state();
  std::vector<Waiting> all;
  {
    const std::lock_guard lock(now.mutex);
    all = std::move(now.waiting);
    now.waiting.clear();
  }
  start(now, awaited_of(all));
}

std::vector<const Preparer::Waiting*> Preparer::awaited_of(const std::vector<Waiting>& all) {
  std::vector<const Waiting*> awaited;
  for (const Waiting& each : all)
    if (each.is_awaited) awaited.push_back(&each);
  return awaited;
}

void Preparer::start(const State& now, std::span<const Waiting* const> all) const {
  std::map<std::string_view, std::vector<image::Bytes>> by_chip;
  for (const Waiting* each : all)
    by_chip[each->chip].push_back(std::as_bytes(std::span(each->image)));
  for (const auto& [chip, images] : by_chip)
    if (!image::start(program_, chip, images, now.environment))
      log("%s cannot be started to prepare images", program_.c_str());
}

} // namespace ptxasw::launch
