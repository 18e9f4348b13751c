// Contracts as JSON behind a line with their size and checksum: see CONTRACT.md.
#include "contract/contract.hpp"
#include "contract/json_reader.hpp"
#include "words/hash.hpp"
#include "words/words.hpp"

#include <cmath>
#include <optional>

namespace ptxasw::contract {
namespace {

constexpr std::string_view magic = "ptxasw-launch";
constexpr std::array<std::string_view, 5> kinds{"original", "rewritten", "coarsened", "remapped",
                                                "reshaped"};
constexpr std::array<std::string_view, 4> rests{"none", "appended", "rest", "reshaped"};

// --- Written -------------------------------------------------------------------------------------

Json json_of(const std::vector<Condition>& conditions) {
  Json made = Json::array();
  for (const Condition& condition : conditions)
    made.push_back({contract::to_word(condition.value), condition.otherwise});
  return made;
}

Json json_of(const Elements& elements) {
  Json along = Json::array();
  for (const auto& [stride, count] : elements.along)
    along.push_back({contract::to_word(stride), contract::to_word(count)});
  return {
      {"bytes", elements.bytes}, {"begin", contract::to_word(elements.begin)}, {"along", along}};
}

Json json_of(const Access& access) {
  Json along = Json::array();
  for (const std::int64_t stride : access.along)
    along.push_back(stride == far_apart ? Json() : Json(stride));
  return {{"count", access.count}, {"bytes", access.bytes}, {"along", along}};
}

// Three digits behind the point are more than a prediction has.
Json json_of(const Gain& gain) {
  Json by_waves = Json::array();
  for (const double value : gain.by_waves)
    by_waves.push_back(std::round(value * 1000) / 1000);
  return {gain.threads, by_waves};
}

Json json_of(const Variant& variant) {
  Json made{{"entry", variant.entry},
            {"name", variant.name},
            {"kind", kinds.at(static_cast<std::size_t>(variant.kind))}};
  if (variant.waits) made["waits"] = true;
  made["divide"] = variant.divide;
  if (variant.rest != Rest::none) made["rest"] = rests.at(static_cast<std::size_t>(variant.rest));
  if (variant.reshapes()) made["block"] = variant.block;
  if (variant.rows.count != 0)
    made["rows"] = {variant.rows.count, std::string(1, "xyz"[variant.rows.axis])};
  for (const Gain& gain : variant.gains)
    made["gains"].push_back(json_of(gain));
  return made;
}

Json json_of(const std::vector<Touched>& all) {
  Json made = Json::array();
  for (const Touched& touched : all)
    made.push_back({contract::to_word(touched.parameter), touched.written ? "writes" : "reads",
                    contract::to_word(touched.begin), contract::to_word(touched.end)});
  return made;
}

Json json_of(const std::vector<ParameterSlot>& places) {
  Json made = Json::array();
  for (const ParameterSlot& place : places)
    made.push_back({place.offset, place.size});
  return made;
}

bool is_alike(const Steps& a, const Steps& b) {
  return a.conditions == b.conditions && a.touched == b.touched && a.variables == b.variables &&
         a.stored == b.stored;
}

// `before`: the one in front of it, of which it has no need to say the same again.
Json json_of(const Steps& steps, const Steps* before) {
  Json made{{"entry", steps.entry}, {"count", steps.count}};
  if (steps.waits) made["waits"] = true;
  if (steps.is_told) made["told"] = true;
  if (steps.by_block) made["by_block"] = true;
  if (steps.in_line.blocks) made["blocks_in_line"] = true;
  if (steps.in_line.threads) made["threads_in_line"] = true;
  if (const auto& rotation = steps.rotation)
    made["rotate"] = {contract::to_word(rotation->old), contract::to_word(rotation->now),
                      contract::to_word(rotation->next)};
  for (const Swap& swap : steps.swaps)
    made["swap"].push_back({contract::to_word(swap.in), contract::to_word(swap.out)});
  made["block"] = steps.block;
  made["covers"] = steps.covers;
  if (steps.blocks_each != 1) made["blocks_each"] = steps.blocks_each;
  if (steps.has_extents())
    for (const Expression& extent : steps.extents)
      made["extents"].push_back(contract::to_word(extent));
  if (before != nullptr && is_alike(*before, steps)) {
    made["alike"] = true;
    return made;
  }
  if (!steps.conditions.empty()) made["require"] = json_of(steps.conditions);
  if (!steps.touched.empty()) made["touch"] = json_of(steps.touched);
  for (const Variable& variable : steps.variables)
    made["variables"].push_back({variable.name, variable.bytes});
  if (steps.stored) made["stores"] = json_of(*steps.stored);
  return made;
}

Json json_of(const CopyKernel& copy) {
  return {{"from", contract::to_word(copy.from)},
          {"to", contract::to_word(copy.to)},
          {"elements", json_of(copy.elements)},
          {"require", json_of(copy.conditions)}};
}

Json json_of(const Sequence::Part& part) {
  return {part.stage, contract::to_word(part.part)};
}

Json json_of(const std::array<Expression, 3>& along) {
  Json made = Json::array();
  for (const Expression& one : along)
    made.push_back(contract::to_word(one));
  return made;
}

Json json_of(const std::vector<Sequence::Stage::Box>& boxes) {
  Json made = Json::array();
  for (const auto& [extents, first, end] : boxes)
    made.push_back({json_of(extents), json_of(first), json_of(end)});
  return made;
}

Json json_of(const Sequence& sequence) {
  Json made{{"entry", sequence.entry}, {"count", sequence.count}};
  if (sequence.waits) made["waits"] = true;
  made["block"] = sequence.block;
  made["covers"] = sequence.covers;
  for (const Sequence::Stage& stage : sequence.stages)
    made["stages"].push_back({{"kernel", stage.kernel},
                              {"places", json_of(stage.places)},
                              {"require", json_of(stage.conditions)},
                              {"touch", json_of(stage.touched)},
                              {"boxes", json_of(stage.boxes)}});
  for (const auto& [a, b, bytes] : sequence.equal)
    made["equal"].push_back({json_of(a), json_of(b), bytes});
  if (sequence.same_threads) made["same_threads"] = true;
  for (const Sequence::Part& array : sequence.arrays)
    made["arrays"].push_back(json_of(array));
  for (const auto& [bytes, strides] : sequence.elements)
    made["elements"].push_back({bytes, json_of(strides)});
  for (const Sequence::Part& part : sequence.varying)
    made["varying"].push_back(json_of(part));
  return made;
}

Json json_of(const Contract& contract) {
  Json made{{"kernel", contract.kernel}, {"code", hexadecimal(contract.code)}};
  if (contract.text != 0) made["text"] = hexadecimal(contract.text);
  made["parameters"] = contract.parameters;
  made["parameter_bytes"] = contract.parameter_bytes;
  if (!contract.places.empty()) made["places"] = json_of(contract.places);
  for (const Access& access : contract.accesses)
    made["accesses"].push_back(json_of(access));
  for (const Variant& variant : contract.variants)
    made["variants"].push_back(json_of(variant));
  const Steps* before = nullptr;
  for (const Steps& steps : contract.steps)
    made["steps"].push_back(json_of(steps, std::exchange(before, &steps)));
  if (contract.copy) made["copies"] = json_of(*contract.copy);
  for (const Sequence& sequence : contract.sequences)
    made["sequences"].push_back(json_of(sequence));
  return made;
}

// --- Read ----------------------------------------------------------------------------------------

// Lists and flags that are not there are empty.
class Reader {
public:
  std::optional<Contract> run(const Json& from) {
    Contract made{.kernel = read_.text(from, "kernel"),
                  .code = read_.hash(from, "code"),
                  .text = JsonReader::has(from, "text") ? read_.hash(from, "text") : 0,
                  .parameters = read_.number<unsigned>(from, "parameters"),
                  .parameter_bytes = read_.number<unsigned>(from, "parameter_bytes")};
    made.places = places(list(from, "places"));
    for (const Json& access : list(from, "accesses"))
      made.accesses.push_back(this->access(access));
    for (const Json& variant : list(from, "variants"))
      made.variants.push_back(this->variant(variant));
    for (const Json& steps : list(from, "steps"))
      made.steps.push_back(this->steps(steps, made.steps));
    if (JsonReader::has(from, "copies")) made.copy = copy(read_.object(from, "copies"));
    for (const Json& sequence : list(from, "sequences"))
      made.sequences.push_back(this->sequence(sequence));
    if (read_.is_broken()) return std::nullopt;
    return made;
  }

private:
  const Json& list(const Json& from, const char* key) {
    return JsonReader::has(from, key) ? read_.list(from, key) : none_;
  }
  bool flag(const Json& from, const char* key) {
    if (!JsonReader::has(from, key)) return false;
    read_.require(read_.member(from, key) == true);
    return true;
  }
  Expression expression(const Json& from) {
    auto made = to_expression(read_.text(from));
    read_.require(made.has_value());
    return made.value_or(Expression{});
  }
  unsigned part(const Json& from) {
    const auto made = to_part(read_.text(from));
    read_.require(made.has_value());
    return made.value_or(0);
  }
  template <std::size_t size>
  std::size_t number_of(std::string_view word, const std::array<std::string_view, size>& words) {
    const auto found = std::ranges::find(words, word);
    read_.require(found != words.end());
    return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
  }

  Access access(const Json& from) {
    Access made{.count = read_.number<unsigned>(from, "count"),
                .bytes = read_.number<unsigned>(from, "bytes")};
    const Json& along = read_.tuple(read_.member(from, "along"), made.along.size());
    for (std::size_t n = 0; n < made.along.size(); ++n)
      made.along.at(n) = read_.at(along, n).is_null()
                             ? far_apart
                             : read_.between<std::int64_t>(read_.at(along, n), -farthest, farthest);
    return made;
  }

  Gain gain(const Json& from) {
    read_.tuple(from, 2);
    Gain made{.threads = read_.whole<unsigned>(read_.at(from, 0))};
    const Json& by_waves = read_.tuple(read_.at(from, 1), waves.size());
    for (std::size_t n = 0; n < waves.size(); ++n)
      made.by_waves.at(n) = read_.real(read_.at(by_waves, n));
    return made;
  }

  Variant variant(const Json& from) {
    Variant made{.entry = read_.text(from, "entry"),
                 .name = read_.text(from, "name"),
                 .kind = static_cast<Kind>(number_of(read_.text(from, "kind"), kinds)),
                 .divide = read_.sizes(from, "divide"),
                 .waits = flag(from, "waits")};
    if (JsonReader::has(from, "rest"))
      made.rest = static_cast<Rest>(number_of(read_.text(from, "rest"), rests));
    if (JsonReader::has(from, "block")) made.block = read_.sizes(from, "block");
    if (JsonReader::has(from, "rows")) {
      const Json& rows = read_.tuple(read_.member(from, "rows"), 2);
      const std::array<std::string_view, 3> axes{"x", "y", "z"};
      made.rows = {read_.whole<unsigned>(read_.at(rows, 0)),
                   static_cast<unsigned>(number_of(read_.text(read_.at(rows, 1)), axes))};
      read_.require(made.rows.count != 0);
    }
    for (const Json& gain : list(from, "gains"))
      made.gains.push_back(this->gain(gain));
    return made;
  }

  Steps steps(const Json& from, const std::vector<Steps>& before) {
    Steps made{.entry = read_.text(from, "entry"),
               .count = read_.number<unsigned>(from, "count"),
               .waits = flag(from, "waits"),
               .is_told = flag(from, "told"),
               .by_block = flag(from, "by_block"),
               .in_line = {flag(from, "blocks_in_line"), flag(from, "threads_in_line")},
               .block = read_.sizes(from, "block"),
               .covers = read_.sizes(from, "covers")};
    if (JsonReader::has(from, "blocks_each"))
      made.blocks_each = read_.number<unsigned>(from, "blocks_each");
    if (JsonReader::has(from, "rotate")) {
      const Json& arrays = read_.tuple(read_.member(from, "rotate"), 3);
      made.rotation = Rotation{.old = part(read_.at(arrays, 0)),
                               .now = part(read_.at(arrays, 1)),
                               .next = part(read_.at(arrays, 2))};
    }
    for (const Json& swap : list(from, "swap")) {
      read_.tuple(swap, 2);
      made.swaps.push_back({part(read_.at(swap, 0)), part(read_.at(swap, 1))});
    }
    if (JsonReader::has(from, "extents")) {
      const Json& extents = read_.tuple(read_.member(from, "extents"), made.extents.size());
      for (std::size_t n = 0; n < made.extents.size(); ++n)
        made.extents.at(n) = expression(read_.at(extents, n));
    }
    if (flag(from, "alike")) {
      read_.require(!before.empty());
      if (!before.empty()) read_alike(made, before.back());
    } else {
      read_needs(made, from);
    }
    return made;
  }

  static void read_alike(Steps& made, const Steps& before) {
    made.conditions = before.conditions;
    made.touched = before.touched;
    made.variables = before.variables;
    made.stored = before.stored;
  }

  void read_needs(Steps& made, const Json& from) {
    made.conditions = conditions(list(from, "require"));
    made.touched = touched(list(from, "touch"));
    for (const Json& variable : list(from, "variables")) {
      read_.tuple(variable, 2);
      made.variables.push_back(
          {read_.text(read_.at(variable, 0)), read_.whole<std::uint64_t>(read_.at(variable, 1))});
    }
    if (JsonReader::has(from, "stores")) made.stored = elements(read_.object(from, "stores"));
  }

  std::vector<ParameterSlot> places(const Json& from) {
    std::vector<ParameterSlot> made;
    for (const Json& place : from) {
      read_.tuple(place, 2);
      made.push_back(
          {read_.whole<unsigned>(read_.at(place, 0)), read_.whole<unsigned>(read_.at(place, 1))});
    }
    return made;
  }

  std::vector<Touched> touched(const Json& from) {
    std::vector<Touched> made;
    for (const Json& touched : from) {
      read_.tuple(touched, 4);
      const std::string how = read_.text(read_.at(touched, 1));
      read_.require(how == "reads" || how == "writes");
      made.push_back({part(read_.at(touched, 0)), how == "writes", expression(read_.at(touched, 2)),
                      expression(read_.at(touched, 3))});
    }
    return made;
  }

  std::vector<Condition> conditions(const Json& from) {
    std::vector<Condition> made;
    for (const Json& condition : from) {
      read_.tuple(condition, 2);
      made.push_back({expression(read_.at(condition, 0)), read_.text(read_.at(condition, 1))});
    }
    return made;
  }

  Elements elements(const Json& from) {
    Elements made{.bytes = read_.number<unsigned>(from, "bytes"),
                  .begin = expression(read_.member(from, "begin")),
                  .along = {}};
    for (const Json& along : read_.list(from, "along")) {
      read_.tuple(along, 2);
      made.along.push_back({expression(read_.at(along, 0)), expression(read_.at(along, 1))});
    }
    return made;
  }

  CopyKernel copy(const Json& from) {
    return {.from = part(read_.member(from, "from")),
            .to = part(read_.member(from, "to")),
            .elements = elements(read_.object(from, "elements")),
            .conditions = conditions(read_.list(from, "require"))};
  }

  Sequence::Part stage_part(const Json& from) {
    read_.tuple(from, 2);
    return {read_.whole<unsigned>(read_.at(from, 0)), part(read_.at(from, 1))};
  }

  // Empty words are empty.
  std::array<Expression, 3> each_or_none(const Json& from) {
    std::array<Expression, 3> made;
    read_.tuple(from, made.size());
    for (std::size_t n = 0; n < made.size(); ++n)
      if (!read_.text(read_.at(from, n)).empty()) made.at(n) = expression(read_.at(from, n));
    return made;
  }

  std::vector<Sequence::Stage::Box> boxes(const Json& from) {
    std::vector<Sequence::Stage::Box> made;
    for (const Json& box : from) {
      read_.tuple(box, 3);
      made.push_back({.extents = each_or_none(read_.at(box, 0)),
                      .first = each_or_none(read_.at(box, 1)),
                      .end = each_or_none(read_.at(box, 2))});
    }
    return made;
  }

  Sequence sequence(const Json& from) {
    Sequence made{.entry = read_.text(from, "entry"),
                  .count = read_.number<unsigned>(from, "count"),
                  .waits = flag(from, "waits"),
                  .block = read_.sizes(from, "block"),
                  .covers = read_.sizes(from, "covers"),
                  .stages = {},
                  .equal = {},
                  .same_threads = flag(from, "same_threads"),
                  .arrays = {},
                  .elements = {},
                  .varying = {}};
    for (const Json& stage : read_.list(from, "stages"))
      made.stages.push_back({.kernel = read_.text(stage, "kernel"),
                             .places = places(read_.list(stage, "places")),
                             .conditions = conditions(read_.list(stage, "require")),
                             .touched = touched(read_.list(stage, "touch")),
                             .boxes = boxes(read_.list(stage, "boxes"))});
    for (const Json& equal : list(from, "equal")) {
      read_.tuple(equal, 3);
      made.equal.push_back({stage_part(read_.at(equal, 0)), stage_part(read_.at(equal, 1)),
                            read_.whole<unsigned>(read_.at(equal, 2))});
    }
    for (const Json& array : read_.list(from, "arrays"))
      made.arrays.push_back(stage_part(array));
    for (const Json& element : read_.list(from, "elements")) {
      read_.tuple(element, 2);
      made.elements.push_back(
          {read_.whole<unsigned>(read_.at(element, 0)), each_or_none(read_.at(element, 1))});
    }
    for (const Json& part : list(from, "varying"))
      made.varying.push_back(stage_part(part));
    return made;
  }

  JsonReader read_;
  const Json none_ = Json::array();
};

std::string_view next_word(std::string_view& bytes) {
  return words::take(bytes, " \n");
}

} // namespace

std::string encode(const Contract& contract) {
  const std::string text = to_line(json_of(contract));
  return std::string(magic) + ' ' + std::to_string(version) + ' ' + std::to_string(text.size()) +
         ' ' + hexadecimal(words::hash(text)) + '\n' + text;
}

tl::expected<Contract, std::string> decode(std::string_view bytes) {
  const auto refused = [](std::string why) { return tl::unexpected<std::string>(std::move(why)); };
  if (bytes.size() > most_bytes) return refused("too large");
  if (next_word(bytes) != magic) return refused("not a contract");
  const auto its_version = words::number<std::size_t>(next_word(bytes));
  if (!its_version) return refused("not a contract");
  if (*its_version != version)
    return refused("of version " + std::to_string(*its_version) + ", which is not " +
                   std::to_string(version));
  const auto size = words::number<std::size_t>(next_word(bytes));
  const std::string_view sum = next_word(bytes);
  if (!size || *size > bytes.size()) return refused("damaged");
  bytes = bytes.substr(0, *size);
  if (hexadecimal(words::hash(bytes)) != sum) return refused("damaged");
  const Json all = Json::parse(bytes, nullptr, false);
  auto made = Reader().run(all);
  if (!made || !is_sensible(*made)) return refused("its words are not those of a contract");
  return std::move(*made);
}

} // namespace ptxasw::contract
