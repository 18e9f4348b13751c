// A link is followed from its creation; one whose creation was not seen is not known.
#include "launch/images/links.hpp"

#include "image/linked.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ptxasw::launch {
namespace {

using image::Reason;

constexpr std::size_t most_open = 256, most_linked = 1024;
constexpr std::size_t most_linked_bytes = std::size_t{64} << 20;

} // namespace

// Logs are written as ever: the driver links, whatever is loaded later.
void Links::Link::take(const Options& given) {
  const auto refuse = [&](Reason why) {
    if (reason == Reason::none) reason = why;
  };
  if (given.count != 0 && (given.options == nullptr || given.values == nullptr))
    return refuse(Reason::jit_options);
  constexpr std::uintptr_t usual_level = 4, first_of_variants = 0x10000;
  for (unsigned n = 0; n < given.count; ++n) {
    const auto number = reinterpret_cast<std::uintptr_t>(given.values[n]) & ~0U;
    bool is_good = true;
    switch (given.options[n]) {
    case CU_JIT_WALL_TIME:
    case CU_JIT_INFO_LOG_BUFFER:
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
    case CU_JIT_ERROR_LOG_BUFFER:
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
    case CU_JIT_LOG_VERBOSE:
    case CU_JIT_TARGET_FROM_CUCONTEXT:
    case CU_JIT_FALLBACK_STRATEGY: break;
    case CU_JIT_OPTIMIZATION_LEVEL: is_good = number == usual_level; break;
    case CU_JIT_MAX_REGISTERS:
      is_good = registers == 0 || registers == number;
      registers = static_cast<unsigned>(number);
      break;
    case CU_JIT_TARGET:
      is_good = number < first_of_variants && (target == 0 || target == number);
      target = static_cast<unsigned>(number);
      break;
    case CU_JIT_GENERATE_LINE_INFO: has_lines = has_lines || number != 0; break;
    case CU_JIT_GENERATE_DEBUG_INFO:
      if (number != 0) refuse(Reason::debug_code);
      break;
    default: is_good = number == 0; break;
    }
    if (!is_good) refuse(Reason::jit_options);
  }
}

std::string Links::Link::options() const {
  std::string words;
  if (registers != 0) words += "-maxrregcount " + std::to_string(registers);
  if (has_lines) words += words.empty() ? "-lineinfo" : " -lineinfo";
  return words;
}

void Links::created(CUlinkState state, Link link) {
  const std::lock_guard lock(mutex_);
  if (links_.size() >= most_open) links_.clear();
  links_[state] = std::move(link);
}

void Links::added(CUlinkState state, std::optional<std::string_view> text, const Options& options) {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(state);
  if (found == links_.end()) return;
  Link& link = found->second;
  if (!text || link.has_text) {
    link.reason = Reason::linked_inputs;
    link.text.clear();
    return;
  }
  link.has_text = true;
  link.text = text->substr(0, text->find('\0'));
  link.take(options);
}

void Links::completed(CUlinkState state, image::Bytes cubin) {
  Link link;
  {
    const std::lock_guard lock(mutex_);
    const auto found = links_.find(state);
    if (found == links_.end()) return;
    link = std::move(found->second);
    links_.erase(found);
  }
  constexpr std::size_t header = 64; // of an ELF file
  if (cubin.size() < header || image::form_of(cubin.data()) != image::Form::cubin) return;
  const auto whole = image::measured(cubin.data());
  if (!whole || whole->size() > cubin.size()) return;
  const std::string_view bytes = image::words_of(*whole);
  if (!link.has_text && link.reason == Reason::none) link.reason = Reason::linked_inputs;
  if (link.reason == Reason::none && link.text.size() + bytes.size() > store::largest_entry / 2)
    link.reason = Reason::too_large;
  Known known{.size = bytes.size(),
              .key = store::key_of({bytes}),
              .made = {.reason = link.reason, .target = link.target, .image = nullptr}};
  if (link.reason == Reason::none)
    known.made.image = std::make_shared<const std::string>(
        image::packed({.options = link.options(), .text = link.text, .cubin = bytes}));
  keep(std::move(known));
}

void Links::destroyed(CUlinkState state) {
  const std::lock_guard lock(mutex_);
  links_.erase(state);
}

// What is linked again is made of the newest text.
void Links::keep(Known known) {
  const std::lock_guard lock(mutex_);
  const auto size_of = [](const Known& each) {
    return each.made.image == nullptr ? 0 : each.made.image->size();
  };
  const auto same = std::ranges::find_if(
      known_, [&](const Known& each) { return each.size == known.size && each.key == known.key; });
  if (same != known_.end()) {
    bytes_ -= size_of(*same);
    known_.erase(same);
  }
  bytes_ += size_of(known);
  known_.push_back(std::move(known));
  while (known_.size() > most_linked || bytes_ > most_linked_bytes) {
    bytes_ -= size_of(known_.front());
    known_.pop_front();
  }
  has_any_.store(!known_.empty(), std::memory_order_release);
}

std::optional<Links::Made> Links::find(image::Bytes cubin) const {
  if (!has_any_.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Known& each) { return each.size == cubin.size(); };
  if (std::ranges::none_of(known_, fits)) return std::nullopt;
  const store::Key key = store::key_of({image::words_of(cubin)});
  for (const Known& each : known_)
    if (fits(each) && each.key == key) return each.made;
  return std::nullopt;
}

} // namespace ptxasw::launch
