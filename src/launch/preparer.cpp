// Collects images, and starts the process.
#include "launch/preparer.hpp"

#include "image/background.hpp"
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

bool Preparer::add(std::string_view chip, image::Bytes image,
                   const LateVersions::Awaited& awaited) {
  State& now = state();
  std::string copy(image::words_of(image));
  const std::lock_guard lock(now.mutex);
  if (now.bytes + copy.size() > most_kept_bytes) return false;
  now.bytes += copy.size();
  now.waiting.push_back({std::string(chip), std::move(copy), awaited});
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
  start(all);
  std::vector<LateVersions::Awaited> images;
  for (const Waiting& each : all)
    images.push_back(each.awaited);
  all = {};
  watch(std::move(images));
}

// Until all of them are there. Nobody says so: who prepares is no child of this process.
void Preparer::watch(std::vector<LateVersions::Awaited> images) const {
  const auto is_there = [&](const LateVersions::Awaited& image) {
    const auto found = image::find(folder_, image.key);
    return found && found->edition() != image.known;
  };
  const auto begin = std::chrono::steady_clock::now();
  for (std::chrono::nanoseconds passed{}; !images.empty() && passed < longest_watched;
       passed = std::chrono::steady_clock::now() - begin) {
    std::this_thread::sleep_for(std::max<std::chrono::nanoseconds>(quiet, passed / 32));
    if (std::erase_if(images, is_there) != 0) news_();
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
  start(all);
}

void Preparer::start(const std::vector<Waiting>& all) const {
  std::map<std::string_view, std::vector<image::Bytes>> by_chip;
  for (const Waiting& each : all)
    by_chip[each.chip].push_back(std::as_bytes(std::span(each.image)));
  for (const auto& [chip, images] : by_chip)
    if (!image::start(program_, chip, images))
      log("%s cannot be started to prepare images", program_.c_str());
}

} // namespace ptxasw::launch
