// Where an entry for passes through a sequence may be used, and what was seen of sequences.
#include "contract/sequences.hpp"

#include "contract/fitting.hpp"
#include "contract/json_reader.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

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

bool have_same_threads(std::span<const StepLaunch> launches) {
  const auto differ = [](const StepLaunch& a, const StepLaunch& b) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (std::uint64_t{a.grid[axis]} * a.block[axis] !=
          std::uint64_t{b.grid[axis]} * b.block[axis])
        return true;
    return false;
  };
  return std::ranges::adjacent_find(launches, differ) == launches.end();
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

bool mentions(const Expression& expression, unsigned number) {
  return std::ranges::any_of(expression, [&](const Token& token) {
    return token.kind == Token::Kind::parameter &&
           number_of(static_cast<unsigned>(token.value)) == number;
  });
}

bool mentions(const Condition& condition, unsigned number) {
  return mentions(condition.value, number);
}
bool mentions(const Touched& touched, unsigned number) {
  return number_of(touched.parameter) == number || mentions(touched.begin, number) ||
         mentions(touched.end, number);
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

bool is_asked(const Sequence& sequence, const Sequence::Part& varying) {
  const Sequence::Stage& stage = sequence.stages[varying.stage];
  const unsigned number = number_of(varying.part);
  return std::ranges::any_of(stage.conditions,
                             [&](const Condition& one) { return mentions(one, number); }) ||
         std::ranges::any_of(stage.touched,
                             [&](const Touched& one) { return mentions(one, number); });
}

namespace {

// Places first <= place < end along each axis; none yet.
struct Places {
  std::array<Number, 3> first{}, end{};
  bool is_any = false;
  void add(const Places& more) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      first[axis] = is_any ? std::min(first[axis], more.first[axis]) : more.first[axis];
      end[axis] = is_any ? std::max(end[axis], more.end[axis]) : more.end[axis];
    }
    is_any = true;
  }
};

// No two of the places have an element, or parts of one, in common: they differ at last along some
// axis, by its stride at least, which is more than all shorter ones make up for.
bool are_apart(const Places& places, std::vector<std::pair<Number, std::size_t>> strides,
               unsigned bytes) {
  constexpr Number largest = Number{1} << 60;
  std::ranges::sort(strides);
  Number room = bytes;
  for (const auto& [stride, axis] : strides) {
    if (stride < room || stride > largest) return false;
    const Number size = places.end[axis] - places.first[axis];
    if (size > Number{most_threads}) return false;
    room += stride * std::max<Number>(0, size - 1);
  }
  return true;
}

class Fitting {
public:
  explicit Fitting(const Sequence& sequence) : sequence_(sequence) {
    made_.grid = {1, 1, 1};
    made_.block = sequence.block;
    for (const Sequence::Stage& stage : sequence.stages)
      touched_.emplace_back(stage.touched.size());
    around_.resize(sequence.arrays.size());
    strides_.resize(sequence.arrays.size());
  }

  tl::expected<FittedSequence, std::string> run(std::span<const StepLaunch> launches) {
    const std::size_t count = sequence_.stages.size();
    if (launches.empty() || launches.size() % count != 0) return refused("it has other stages");
    const auto first = launches.first(count);
    for (const Sequence::Equal& one : sequence_.equal)
      if (!is_equal(one, first)) return refused("its stages have other arrays or sizes");
    if (sequence_.same_threads && !have_same_threads(launches))
      return refused("its launches have other numbers of threads");
    for (const Sequence::Part& array : sequence_.arrays)
      made_.arrays.push_back({address_in(first[array.stage].parameters, array.part), {}});
    for (std::size_t n = 0; n < launches.size(); ++n)
      if (std::string why = add(n, launches[n]); !why.empty()) return refused(std::move(why));
    if (std::string why = give_ranges(); !why.empty()) return refused(std::move(why));
    for (std::size_t n = 0; n < around_.size(); ++n)
      if (!are_apart(around_[n], strides_[n], sequence_.elements[n].bytes))
        return refused("places of several stages have one element");
    made_.threads.push_back(sequence_.count);
    if (overlap(made_)) return refused("the arrays overlap");
    return std::move(made_);
  }

private:
  // Empty, or why the entry cannot stand for it. Of a later pass only what hangs on a value is
  // asked: all else is as in the first.
  std::string add(std::size_t n, const StepLaunch& launch) {
    const std::size_t number = n % sequence_.stages.size();
    const Sequence::Stage& stage = sequence_.stages[number];
    const auto is_new = [&](const auto& what) {
      return n == number || std::ranges::any_of(sequence_.varying, [&](const Sequence::Part& part) {
               return part.stage == number && mentions(what, number_of(part.part));
             });
    };
    if (n != number && std::ranges::none_of(stage.conditions, is_new) &&
        std::ranges::none_of(stage.touched, is_new))
      return {};
    const auto known = quantities_of(stage.places, launch);
    if (!known) return known.error();
    for (const Condition& condition : stage.conditions)
      if (is_new(condition))
        if (std::string why = why_not(condition, *known); !why.empty()) return why;
    for (std::size_t one = 0; one < stage.touched.size(); ++one) {
      if (!is_new(stage.touched[one])) continue;
      const auto range = range_of(stage.touched[one], *known);
      if (!range) return "what is read and written is not known";
      widen(touched_[number][one], *range);
    }
    return n == number ? add_places(static_cast<unsigned>(number), *known) : "";
  }

  std::string add_places(unsigned number, const Quantities& known) {
    Places all;
    for (const Sequence::Stage::Box& box : sequence_.stages[number].boxes) {
      Places one{.is_any = true};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto threads = box.has_extents() ? evaluate(box.extents[axis], known)
                                               : std::optional<Number>(known.threads[axis]);
        const auto first = evaluate(box.first[axis], known), end = evaluate(box.end[axis], known);
        if (!threads || *threads < 1 || !first || !end) return "its places are not known";
        one.first[axis] = *first;
        one.end[axis] = *end;
        const auto blocks = blocks_for(*threads, sequence_.covers[axis], axis);
        if (!blocks) return "the grid is too large";
        made_.threads.push_back(static_cast<std::uint32_t>(*threads));
        made_.grid[axis] = std::max(made_.grid[axis], *blocks);
      }
      all.add(one);
    }
    for (const Touched& touched : sequence_.stages[number].touched)
      if (const auto array = array_of(sequence_, {number, touched.parameter}))
        around_[*array].add(all);
    return add_strides(number, known);
  }

  // As this stage has them.
  std::string add_strides(unsigned number, const Quantities& known) {
    for (std::size_t n = 0; n < sequence_.arrays.size(); ++n) {
      if (sequence_.arrays[n].stage != number) continue;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const Expression& stride = sequence_.elements[n].strides[axis];
        if (stride.empty()) continue;
        const auto value = evaluate(stride, known);
        if (!value) return "its elements are not known";
        strides_[n].emplace_back(*value, axis);
      }
    }
    return {};
  }

  std::string give_ranges() {
    for (unsigned n = 0; n < touched_.size(); ++n)
      for (std::size_t one = 0; one < touched_[n].size(); ++one) {
        const TouchedRange& range = touched_[n][one];
        const auto array = array_of(sequence_, {n, sequence_.stages[n].touched[one].parameter});
        if (array)
          widen(made_.arrays[*array].range, range);
        else if (range.written)
          return "an array more is written";
        else
          made_.read.push_back(range);
      }
    return {};
  }

  const Sequence& sequence_;
  std::vector<std::vector<TouchedRange>> touched_; // in all passes: by stage
  std::vector<Places> around_;                     // by array: of all stages that touch it
  std::vector<std::vector<std::pair<Number, std::size_t>>> strides_; // and its axes
  FittedSequence made_;
};

} // namespace

tl::expected<FittedSequence, std::string> fit(const Sequence& sequence,
                                              std::span<const StepLaunch> launches) {
  return Fitting(sequence).run(launches);
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
  if (seen.block)
    return kernels.size() == 1 && seen.classes.empty() && seen.varying.empty() &&
           is_shape(*seen.block, 1, largest_block);
  if (kernels.size() < 2 || kernels.size() > most_stages) return false;
  const auto are_there = [&](const std::vector<Sequence::Part>& parts) {
    return std::ranges::is_sorted(parts) &&
           std::ranges::all_of(parts, [&](const Sequence::Part& part) {
             return part.stage < kernels.size() && number_of(part.part) < most_parameters;
           });
  };
  return are_there(seen.varying) && seen.varying.size() <= most_varying &&
         std::ranges::all_of(seen.classes, [&](const SeenSequence::Class& one) {
           return is_one_value(one.bytes) && one.parts.size() >= 2 && are_there(one.parts);
         });
}

} // namespace

namespace {

Json json_of(const std::vector<Sequence::Part>& parts) {
  Json list = Json::array();
  for (const auto& [stage, part] : parts)
    list.push_back({stage, to_word(part)});
  return list;
}

std::vector<Sequence::Part> parts_of(JsonReader& read, const Json& list) {
  std::vector<Sequence::Part> parts;
  for (const Json& place : list) {
    read.tuple(place, 2);
    const auto part = to_part(read.text(read.at(place, 1)));
    read.require(part.has_value());
    parts.push_back({read.whole<unsigned>(read.at(place, 0)), part.value_or(0)});
  }
  return parts;
}

} // namespace

std::string encode(const std::vector<SeenSequence>& seen) {
  Json all = Json::array();
  for (const auto& [kernels, classes, varying, block] : seen) {
    Json made{{"kernels", kernels}, {"classes", Json::array()}};
    for (const auto& [bytes, parts] : classes)
      made["classes"].push_back({{"bytes", bytes}, {"parts", json_of(parts)}});
    if (!varying.empty()) made["varying"] = json_of(varying);
    if (block) made["block"] = *block;
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
    for (const Json& each : read.list(one, "classes"))
      made.classes.push_back(
          {read.number<unsigned>(each, "bytes"), parts_of(read, read.list(each, "parts"))});
    if (JsonReader::has(one, "varying")) made.varying = parts_of(read, read.list(one, "varying"));
    if (JsonReader::has(one, "block")) made.block = read.sizes(one, "block");
    read.require(is_sensible(made));
    seen.push_back(std::move(made));
  }
  if (read.is_broken()) return refused("its words are not those of sequences");
  return seen;
}

} // namespace ptxasw::contract
