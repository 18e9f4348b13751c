// An answer serves whoever asks for less of the same text: fewer kernels, or without lines.
#include "oracle/memoized.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ptxasw::oracle {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20; // more is asked for again

bool serves(const AssemblyRequest& answered, const AssemblyRequest& asked) {
  if (asked.line_info && !answered.line_info) return false;
  if (!answered.entries.empty()) {
    const auto is_there = [&](const std::string& entry) {
      return std::ranges::count(answered.entries, entry) != 0;
    };
    if (asked.entries.empty() || !std::ranges::all_of(asked.entries, is_there)) return false;
  }
  return answered.text == asked.text;
}

} // namespace

const MemoizedAssembler::Answer* MemoizedAssembler::find(const AssemblyRequest& request) const {
  const auto found = std::ranges::find_if(
      answers_, [&](const Answer& answer) { return serves(answer.request, request); });
  return found == answers_.end() ? nullptr : &*found;
}

std::vector<std::optional<Assembled>>
MemoizedAssembler::assemble(std::span<const AssemblyRequest> requests) {
  std::vector<AssemblyRequest> fresh;
  for (const AssemblyRequest& request : requests) {
    const bool is_among = std::ranges::any_of(
        fresh, [&](const AssemblyRequest& other) { return serves(other, request); });
    if (find(request) == nullptr && !is_among) fresh.push_back(request);
  }
  std::vector<Answer> made; // those that are too many to be kept
  if (!fresh.empty()) {
    calls_ += static_cast<unsigned>(fresh.size());
    auto answers = behind_.assemble(fresh);
    for (std::size_t n = 0; n < fresh.size(); ++n) {
      const std::size_t size = fresh[n].text.size() + (answers[n] ? answers[n]->cubin.size() : 0);
      answered_all_ &= answers[n].has_value();
      auto& place = bytes_ + size <= most_bytes ? answers_ : made;
      if (&place == &answers_) bytes_ += size;
      place.push_back({std::move(fresh[n]), std::move(answers[n])});
    }
  }
  std::vector<std::optional<Assembled>> result;
  for (const AssemblyRequest& request : requests) {
    const Answer* answer = find(request);
    if (answer == nullptr)
      answer = &*std::ranges::find_if(
          made, [&](const Answer& other) { return serves(other.request, request); });
    result.push_back(answer->made);
  }
  return result;
}

} // namespace ptxasw::oracle
