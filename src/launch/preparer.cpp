// Collects images, and starts the process.
#include "launch/preparer.hpp"

#include "image/background.hpp"
#include "image/seen_sequences.hpp"
#include "launch/log.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

using namespace std::chrono_literals;
constexpr auto quiet = 100ms;
constexpr auto longest_watched = 2h;
constexpr auto first_look = 1s; // for sequences; the next one behind twice the time
constexpr unsigned most_again = 4;
constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

} // namespace

Preparer::State& Preparer::state() {
  State* found = state_.load(std::memory_order_acquire);
  const pid_t process = ::getpid();
  if (found != nullptr && found->process == process) return *found;
  auto* const made = new State;
  made->process = process;
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
  now.waiting.push_back({std::string(chip), std::move(copy), awaited, when == When::now});
  now.more.notify_one();
  if (now.has_thread) return true;
  sigset_t all, before; // signals are the program's
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([this, &now] { work(now); }).detach();
    now.has_thread = true;
  } catch (const std::system_error&) { // no thread is to be had: at the end, then
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

void Preparer::work(State& now) {
  std::unique_lock lock(now.mutex);
  for (std::size_t seen = 0; seen != now.waiting.size();) {
    seen = now.waiting.size();
    now.more.wait_for(lock, quiet, [&] { return now.waiting.size() != seen; });
  }
  std::vector<Waiting> all = std::move(now.waiting);
  now.waiting.clear();
  now.has_thread = false;
  lock.unlock();
  start(awaited_of(all));
  if (look_ == nullptr)
    for (Waiting& each : all)
      each.image = {};
  watch(std::move(all));
}

bool Preparer::has_come(Waiting& image) const {
  if (!image.is_awaited) return false;
  const auto found = image::find(folder_, image.awaited.key);
  if (!found || found->edition() == image.awaited.known) return false;
  image.awaited.known = found->edition();
  image.is_awaited = false;
  return true;
}

// Other sequences were seen than those that it was prepared with.
bool Preparer::is_outdated(const Waiting& image) const {
  if (image.is_awaited || image.again == most_again) return false;
  const auto found = image::find(folder_, image.awaited.key);
  return found && found->sequences != image::hash_of(image::seen_in(folder_), found->kernels);
}

// Until all of them are there, and no more can be seen. Nobody says so: who prepares is no child of
// this process.
void Preparer::watch(std::vector<Waiting> images) const {
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::nanoseconds passed{}, next_look = first_look;
  bool are_all = look_ == nullptr;
  const auto is_done = [&](const Waiting& image) { return !image.is_awaited && are_all; };
  while (std::erase_if(images, is_done), !images.empty() && passed < longest_watched) {
    std::this_thread::sleep_for(std::max<std::chrono::nanoseconds>(quiet, passed / 32));
    passed = std::chrono::steady_clock::now() - begin;
    const auto come = std::ranges::count_if(images, [&](Waiting& each) { return has_come(each); });
    if (come != 0) news_();
    if (look_ == nullptr || (come == 0 && passed < next_look)) continue;
    next_look = 2 * passed;
    if (!are_all) {
      const Seen seen = look_();
      are_all = seen.are_all;
      image::add_seen(folder_, seen.sequences);
    }
    std::vector<const Waiting*> again;
    for (Waiting& image : images) {
      if (!is_outdated(image)) continue;
      image.is_awaited = true;
      ++image.again;
      again.push_back(&image);
    }
    start(again);
  }
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
  start(awaited_of(all));
}

std::vector<const Preparer::Waiting*> Preparer::awaited_of(const std::vector<Waiting>& all) {
  std::vector<const Waiting*> awaited;
  for (const Waiting& each : all)
    if (each.is_awaited) awaited.push_back(&each);
  return awaited;
}

void Preparer::start(std::span<const Waiting* const> all) const {
  std::map<std::string_view, std::vector<image::Bytes>> by_chip;
  for (const Waiting* each : all)
    by_chip[each->chip].push_back(std::as_bytes(std::span(each->image)));
  for (const auto& [chip, images] : by_chip)
    if (!image::start(program_, chip, images))
      log("%s cannot be started to prepare images", program_.c_str());
}

} // namespace ptxasw::launch
