// Looks up, decodes, and keeps account of what was asked for.
#include "launch/images/ahead.hpp"

#include "launch/own_thread.hpp"

#include <algorithm>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_bytes_ahead = std::size_t{64} << 20; // of images

} // namespace

Ahead::Ahead(std::string folder)
    : folder_(std::move(folder)), program_(image::program_of_process()), process_(::getpid()) {
  if (folder_.empty()) return;
  try {
    thread_ = own_thread([this] { work(); });
  } catch (const std::system_error&) { // no thread is to be had: nothing is found ahead
  }
}

// A fork leaves it behind.
void Ahead::join() {
  if (thread_.joinable() && ::getpid() == process_) thread_.join();
}

void Ahead::work() {
  auto before = image::find_needed(folder_, program_);
  if (!before) return;
  std::size_t bytes = 0;
  for (const image::ImageKey& key : before->images) {
    if (bytes > most_bytes_ahead) break;
    if (auto prepared = image::find(folder_, key)) {
      bytes += prepared->cubin.size();
      found_.images.try_emplace(key, std::move(*prepared));
    }
  }
  for (const std::string& text : before->contracts)
    if (auto contract = contract::decode(text))
      found_.contracts.try_emplace(text, std::move(*contract));
  found_.before = std::move(*before);
  found_.is_done.store(true, std::memory_order_release);
}

std::optional<image::Prepared> Ahead::find(const image::ImageKey& key) {
  std::optional<image::Prepared> prepared;
  if (is_done()) {
    const std::lock_guard lock(mutex_);
    if (auto known = found_.images.extract(key)) {
      ++used_;
      prepared = std::move(known.mapped());
    }
  }
  if (!prepared) prepared = image::find(folder_, key);
  if (!prepared) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (needed_.images.size() < image::most_needed_images) needed_.images.insert(key);
  return prepared;
}

tl::expected<contract::Contract, std::string> Ahead::decode(const std::string& bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (needed_.contracts.size() < image::most_needed_contracts) needed_.contracts.insert(bytes);
    const auto& known = found_.contracts;
    if (const auto found = is_done() ? known.find(bytes) : known.end(); found != known.end()) {
      ++used_;
      return found->second;
    }
  }
  return contract::decode(bytes);
}

// With what was needed before, as far as there is room: a program does not do the same each time.
void Ahead::keep() {
  if (::getpid() != process_) return; // nor may it have left the lock behind
  join();
  const std::lock_guard lock(mutex_);
  image::Needed all =
      is_done() ? found_.before : image::find_needed(folder_, program_).value_or(image::Needed());
  const auto has = [](const auto& set, const auto& part) {
    return std::ranges::includes(set, part);
  };
  if (has(all.images, needed_.images) && has(all.contracts, needed_.contracts)) return;
  all.images.insert(needed_.images.begin(), needed_.images.end());
  all.contracts.insert(needed_.contracts.begin(), needed_.contracts.end());
  const bool is_too_much = all.images.size() > image::most_needed_images ||
                           all.contracts.size() > image::most_needed_contracts;
  image::keep_needed(folder_, program_, is_too_much ? needed_ : all);
}

} // namespace ptxasw::launch
