// Where an entry for passes through a sequence may be used, and what was seen of sequences.
#include "contract/sequences.hpp"

#include "contract/fitting.hpp"
#include "contract/json_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

namespace ptxasw::contract {
namespace {

bool is_equal(const Sequence::Equal& one, std::span<const StepLaunch> stages) {
  const auto at = [&](const Sequence::Part& part) -> const unsigned char* {
    const void* const value = stages[part.stage].parameters(number_of(part.part));
    return value == nullptr ? nullptr
                            : static_cast<const unsigned char*>(value) + byte_of(part.part);
  };
  const unsigned char *a = at(one.a), *b = at(one.b);
  return a != nullptr && b != nullptr && std::memcmp(a, b, one.bytes) == 0;
}

// Which of the arrays is behind a stage's pointer; none: another one, whatever it points to.
std::optional<std::size_t> array_of(const Sequence& sequence, const Sequence::Part& pointer) {
  for (std::size_t n = 0; n < sequence.arrays.size(); ++n) {
    const auto is_named = [&](const Sequence::Equal& one) {
      return one.bytes == sizeof(std::uint64_t) &&
             ((one.a == pointer && one.b == sequence.arrays[n]) ||
              (one.b == pointer && one.a == sequence.arrays[n]));
    };
    if (sequence.arrays[n] == pointer || std::ranges::any_of(sequence.equal, is_named)) return n;
  }
  return std::nullopt;
}

// An empty range has nothing yet.
void widen(TouchedRange& range, const TouchedRange& by) {
  const bool is_first = range.begin == range.end;
  range.begin = is_first ? by.begin : std::min(range.begin, by.begin);
  range.end = is_first ? by.end : std::max(range.end, by.end);
  range.written |= by.written;
}

bool overlap(const FittedSequence& made) {
  for (std::size_t n = 0; n < made.arrays.size(); ++n) {
    const TouchedRange all{made.arrays[n].range.begin, made.arrays[n].range.end, true};
    for (std::size_t other = 0; other < n; ++other)
      if (overlap(all, made.arrays[other].range)) return true;
    if (std::ranges::any_of(made.read, [&](const TouchedRange& one) { return overlap(all, one); }))
      return true;
  }
  return false;
}

} // namespace

tl::expected<FittedSequence, std::string> fit(const Sequence& sequence,
                                              std::span<const StepLaunch> stages) {
  if (stages.size() != sequence.stages.size()) return refused("it has other stages");
  for (const Sequence::Equal& one : sequence.equal)
    if (!is_equal(one, stages)) return refused("its stages have other arrays or sizes");
  FittedSequence made;
  made.grid = {1, 1, 1};
  made.block = sequence.block;
  for (const Sequence::Part& array : sequence.arrays)
    made.arrays.push_back({address_in(stages[array.stage].parameters, array.part), {}});
  for (std::size_t n = 0; n < stages.size(); ++n) {
    const Sequence::Stage& stage = sequence.stages[n];
    const auto known = quantities_of(stage.places, stages[n]);
    if (!known) return refused(known.error());
    if (std::string why = why_not(stage.conditions, *known); !why.empty())
      return refused(std::move(why));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Number threads = known->threads[axis];
      const auto blocks = blocks_for(threads, sequence.covers[axis], axis);
      if (!blocks) return refused("the grid is too large");
      made.threads.push_back(static_cast<std::uint32_t>(threads));
      made.grid[axis] = std::max(made.grid[axis], *blocks);
    }
    for (const Touched& what : stage.touched) {
      const auto range = range_of(what, *known);
      if (!range) return refused("what is read and written is not known");
      const auto array = array_of(sequence, {static_cast<unsigned>(n), what.parameter});
      if (array)
        widen(made.arrays[*array].range, *range);
      else if (range->written)
        return refused("an array more is written");
      else
        made.read.push_back(*range);
    }
  }
  made.threads.push_back(sequence.count);
  return overlap(made) ? refused("the arrays overlap")
                       : tl::expected<FittedSequence, std::string>(std::move(made));
}

std::uint64_t own_bytes(const FittedArray& array) {
  return array.range.end - array.range.begin + vector_bytes;
}

// Elements lie as the program's do, to vectors.
std::uint64_t own_address(const FittedArray& array, std::uint64_t begin) {
  const std::uint64_t first = array.range.begin;
  return begin + first % vector_bytes - (first - array.pointer);
}

// --- What was seen -------------------------------------------------------------------------------

namespace {

bool is_sensible(const SeenSequence& seen) {
  const auto& kernels = seen.kernels;
  if (kernels.size() < 2 || kernels.size() > most_stages ||
      std::set<std::string>(kernels.begin(), kernels.end()).size() != kernels.size())
    return false;
  return std::ranges::all_of(seen.classes, [&](const SeenSequence::Class& one) {
    return (one.bytes == 4 || one.bytes == 8) && one.parts.size() >= 2 &&
           std::ranges::is_sorted(one.parts) &&
           std::ranges::all_of(one.parts, [&](const Sequence::Part& part) {
             return part.stage < kernels.size() && number_of(part.part) < most_parameters;
           });
  });
}

} // namespace

std::string encode(const std::vector<SeenSequence>& seen) {
  Json all = Json::array();
  for (const auto& [kernels, classes] : seen) {
    Json made{{"kernels", kernels}, {"classes", Json::array()}};
    for (const auto& [bytes, parts] : classes) {
      Json list = Json::array();
      for (const auto& [stage, part] : parts)
        list.push_back({stage, to_word(part)});
      made["classes"].push_back({{"bytes", bytes}, {"parts", list}});
    }
    all.push_back(std::move(made));
  }
  return to_line({{"sequences", all}}) + "\n";
}

tl::expected<std::vector<SeenSequence>, std::string> decode_seen(std::string_view text) {
  JsonReader read;
  const Json all = Json::parse(text, nullptr, false);
  std::vector<SeenSequence> seen;
  for (const Json& one : read.list(all, "sequences")) {
    SeenSequence made;
    for (const Json& kernel : read.list(one, "kernels"))
      made.kernels.push_back(read.text(kernel));
    for (const Json& each : read.list(one, "classes")) {
      SeenSequence::Class& found = made.classes.emplace_back();
      found.bytes = read.number<unsigned>(each, "bytes");
      for (const Json& place : read.list(each, "parts")) {
        read.tuple(place, 2);
        const auto part = to_part(read.text(read.at(place, 1)));
        read.require(part.has_value());
        found.parts.push_back({read.whole<unsigned>(read.at(place, 0)), part.value_or(0)});
      }
    }
    read.require(is_sensible(made));
    seen.push_back(std::move(made));
  }
  if (read.is_broken()) return refused("its words are not those of sequences");
  return seen;
}

} // namespace ptxasw::contract
