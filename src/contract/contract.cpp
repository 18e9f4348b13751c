// Lines of words, and a checksum: see CONTRACT.md.
#include "contract/contract.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace ptxasw::contract {
namespace {

constexpr std::string_view magic = "ptxasw-launch";
constexpr std::array<std::string_view, 5> kinds{"original", "rewritten", "coarsened", "remapped",
                                                "reshaped"};
constexpr std::string_view far_word = "far";
constexpr std::array<std::string_view, 4> rests{"-", "appended", "rest", "reshaped"};

std::string fixed(const char* format, auto... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

std::string hexadecimal(std::uint64_t n) {
  return fixed("%016llx", static_cast<unsigned long long>(n));
}

std::string number(std::uint64_t n) {
  return std::to_string(n);
}

// Words of a line, separated by single blanks.
class Words {
public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return word;
  }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  template <class Number> std::optional<Number> number(Number least, Number most, int base = 10) {
    return to_number(next(), least, most, base);
  }
  template <class Number>
  static std::optional<Number> to_number(std::string_view word, Number least, Number most,
                                         int base = 10) {
    Number value{};
    std::from_chars_result result{};
    if constexpr (std::is_floating_point_v<Number>)
      result = std::from_chars(word.data(), word.data() + word.size(), value);
    else
      result = std::from_chars(word.data(), word.data() + word.size(), value, base);
    if (result.ec != std::errc() || result.ptr != word.data() + word.size()) return std::nullopt;
    if (!(value >= least && value <= most)) return std::nullopt;
    return value;
  }

private:
  std::string_view rest_;
};

bool is_name(std::string_view word) {
  return !word.empty() && word.size() < 4096 &&
         std::ranges::all_of(word, [](char c) { return c > ' ' && c < 127; });
}

// The value at x, linear in the logarithm of x between the places that are known.
double between(auto begin, auto end, auto values, double x) {
  const auto above = std::lower_bound(begin, end, x);
  if (above == begin) return *values;
  const auto value = values + (above - begin);
  if (above == end) return *(value - 1);
  const double share = std::log(x / *(above - 1)) / std::log(*above / *(above - 1));
  return *(value - 1) + share * (*value - *(value - 1));
}

constexpr unsigned most_parameter_space = 1U << 16;
constexpr unsigned most_element = 16; // bytes
constexpr std::size_t most_axes = 3;

class Reader {
public:
  Reader(std::string_view text, unsigned its_version) : rest_(text), version_(its_version) {}

  tl::expected<Contract, std::string> run() {
    Words kernel = line("kernel"), sizes = line("parameters"), places = line("places");
    result_.kernel = kernel.next();
    const auto count = sizes.number<unsigned>(0, most_parameters);
    const auto bytes = sizes.number<unsigned>(0, most_parameter_space);
    const auto code = kernel.number<std::uint64_t>(0, ~std::uint64_t{0}, 16);
    std::optional<std::uint64_t> text = 0;
    if (!kernel.done() && version_ >= with_text)
      text = kernel.number<std::uint64_t>(1, ~std::uint64_t{0}, 16);
    if (!is_name(result_.kernel) || !code || !text || !kernel.done() || !count || !bytes ||
        !sizes.done())
      return damaged();
    result_.text = *text;
    result_.code = *code;
    result_.parameters = *count;
    result_.parameter_bytes = *bytes;
    if (!read_places(places)) return damaged();
    while (rest_.starts_with("access "))
      if (!access()) return damaged();
    while (rest_.starts_with("variant "))
      if (!variant()) return damaged();
    while (rest_.starts_with("steps "))
      if (!steps()) return damaged();
    if (rest_.starts_with("copies ") && !copy()) return damaged();
    if (!rest_.empty() || result_.steps.size() > most_step_entries) return damaged();
    if (result_.variants.empty() || result_.variants.size() > most_variants ||
        result_.variants[0].entry != result_.kernel)
      return damaged();
    return std::move(result_);
  }

private:
  static tl::unexpected<std::string> damaged() {
    return tl::unexpected<std::string>("its words are not those of a contract");
  }

  // The words behind `key`; none if the next line begins otherwise.
  Words line(std::string_view key) {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      rest_ = {};
      return Words("");
    }
    Words words(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return words.next() == key ? words : Words("");
  }

  // "0:8 8:4", or "-"
  bool read_places(Words words) {
    if (words.rest() == "-") return true;
    while (!words.done()) {
      const std::string_view word = words.next();
      const auto place = pair<unsigned>(word, most_parameter_space);
      if (!place || place->first + place->second > result_.parameter_bytes) return false;
      result_.places.push_back({place->first, place->second});
    }
    return !result_.places.empty() && result_.places.size() == result_.parameters;
  }

  // "access 3 4 far 4 0"
  bool access() {
    Words words = line("access");
    const auto count = words.number<unsigned>(1, most_alike),
               bytes = words.number<unsigned>(1, widest_access);
    if (!count || !bytes || result_.accesses.size() == most_accesses) return false;
    Access made{.count = *count, .bytes = *bytes};
    for (std::int64_t& stride : made.along) {
      const std::string_view word = words.next();
      const auto read = Words::to_number<std::int64_t>(word, -farthest, farthest);
      if (!read && word != far_word) return false;
      stride = read.value_or(far_apart);
    }
    if (!words.done()) return false;
    result_.accesses.push_back(made);
    return true;
  }

  // "0:16.8"
  static std::optional<std::pair<unsigned, unsigned>> parts(std::string_view word) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto first = to_part(word.substr(0, colon)), second = to_part(word.substr(colon + 1));
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
  }

  // "1:2"
  template <class Number>
  static std::optional<std::pair<Number, Number>> pair(std::string_view word, Number most) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto first = Words::to_number<Number>(word.substr(0, colon), 0, most);
    const auto second = Words::to_number<Number>(word.substr(colon + 1), 0, most);
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
  }

  bool steps() {
    Words head = line("steps");
    Steps made;
    made.entry = head.next();
    const auto count = head.number<unsigned>(3, most_steps);
    if (!is_name(made.entry) || !count) return false;
    made.count = *count;
    while (!head.done()) {
      const std::string_view word = head.next();
      const bool is_told = word == "told";
      if ((!is_told && word != "waits") ||
          version_ < (is_told ? with_told_steps : with_waiting_steps))
        return false;
      (is_told ? made.is_told : made.waits) = true;
    }
    if (!(rest_.starts_with("rotate ") ? rotation(made) : swaps(made))) return false;
    Words sizes = line("block");
    unsigned threads = 1;
    for (unsigned& size : made.block) {
      const auto read = sizes.number<unsigned>(1, 1024);
      if (!read || (threads *= *read) > 1024) return false;
      size = *read;
    }
    for (unsigned& size : made.covers) {
      const auto read = sizes.number<unsigned>(1, 1U << 20);
      if (!read) return false;
      size = *read;
    }
    if (!sizes.done()) return false;
    if (rest_.starts_with("extent ") && !extents(made)) return false;
    if (version_ >= with_told_steps && rest_.starts_with("alike\n")) {
      if (!line("alike").done() || result_.steps.empty()) return false;
      made.conditions = result_.steps.back().conditions;
      made.touched = result_.steps.back().touched;
      made.stored = result_.steps.back().stored;
      made.variables = result_.steps.back().variables;
    }
    while (rest_.starts_with("require "))
      if (!condition(made.conditions)) return false;
    while (rest_.starts_with("touch "))
      if (!touched(made)) return false;
    while (rest_.starts_with("variable "))
      if (!variable(made)) return false;
    if (rest_.starts_with("stores ")) {
      made.stored = elements("stores");
      if (!made.stored || made.swaps.size() != 1) return false;
    }
    result_.steps.push_back(std::move(made));
    return true;
  }

  // "swap 0:1 2:3"
  bool swaps(Steps& made) {
    Words words = line("swap");
    while (!words.done()) {
      const auto swap = parts(words.next());
      if (!swap || !is_pointer(swap->first) || !is_pointer(swap->second)) return false;
      if (is_swapped(made, swap->first) || is_swapped(made, swap->second) ||
          swap->first == swap->second)
        return false;
      made.swaps.push_back({swap->first, swap->second});
    }
    return !made.swaps.empty() && made.count % 2 != 0;
  }

  // "rotate 0:1:2"
  bool rotation(Steps& made) {
    Words words = line("rotate");
    const std::string_view all = words.next();
    const std::size_t colon = std::min(all.find(':'), all.size());
    const auto old = to_part(all.substr(0, colon));
    const auto others = parts(all.substr(std::min(colon + 1, all.size())));
    if (version_ < with_waiting_steps || !old || !others || !words.done()) return false;
    const Rotation moved{.old = *old, .now = others->first, .next = others->second};
    made.rotation = moved;
    return moved.old != moved.now && moved.now != moved.next && moved.next != moved.old &&
           is_pointer(moved.old) && is_pointer(moved.now) && is_pointer(moved.next) &&
           made.count % 3 == 0;
  }

  static bool is_swapped(const Steps& steps, unsigned parameter) {
    return std::ranges::any_of(steps.swaps, [&](const Swap& swap) {
      return swap.in == parameter || swap.out == parameter;
    });
  }

  // Two of them do not overlap.
  [[nodiscard]] bool is_pointer(unsigned part) const {
    return is_within(part, 8) && byte_of(part) % 8 == 0;
  }

  // Of a structure from version 11 on.
  [[nodiscard]] bool is_within(unsigned part, unsigned bytes) const {
    if (number_of(part) >= result_.places.size()) return false;
    const unsigned size = result_.places[number_of(part)].size;
    return byte_of(part) + bytes <= size &&
           (version_ >= with_parts || (byte_of(part) == 0 && size <= 8));
  }

  [[nodiscard]] std::optional<Expression> expression(std::string_view word) const {
    auto made = to_expression(word);
    if (made)
      for (const Token& token : *made)
        if (token.kind == Token::Kind::parameter &&
            !is_within(static_cast<unsigned>(token.value), 1))
          return std::nullopt;
    return made;
  }

  bool extents(Steps& steps) {
    Words words = line("extent");
    for (Expression& extent : steps.extents) {
      auto read = expression(words.next());
      if (version_ < with_extents || !read) return false;
      extent = std::move(*read);
    }
    return words.done();
  }

  // "copies 1:0"
  bool copy() {
    Words words = line("copies");
    const auto arrays = parts(words.next());
    auto copied = elements("elements");
    if (!arrays || !words.done() || !is_pointer(arrays->first) || !is_pointer(arrays->second) ||
        arrays->first == arrays->second || !copied)
      return false;
    CopyKernel made{arrays->first, arrays->second, std::move(*copied), {}};
    while (rest_.starts_with("require "))
      if (!condition(made.conditions)) return false;
    result_.copy = std::move(made);
    return true;
  }

  // "stores 4 p2s32,4,* 4 p2s32,2,- p2s32,4,* p3s32,2,-"
  std::optional<Elements> elements(std::string_view key) {
    Words words = line(key);
    const auto bytes = words.number<unsigned>(1, most_element);
    auto begin = expression(words.next());
    if (version_ < with_copies || !bytes || !begin) return std::nullopt;
    Elements made{.bytes = *bytes, .begin = std::move(*begin), .along = {}};
    while (!words.done()) {
      auto stride = expression(words.next()), count = expression(words.next());
      if (!stride || !count || made.along.size() == most_axes) return std::nullopt;
      made.along.push_back({std::move(*stride), std::move(*count)});
    }
    return made;
  }

  bool condition(std::vector<Condition>& conditions) {
    Words words = line("require");
    const auto value = expression(words.next());
    std::string otherwise(words.rest());
    if (!value || otherwise.empty()) return false;
    conditions.push_back({*value, std::move(otherwise)});
    return true;
  }

  bool touched(Steps& steps) {
    Words words = line("touch");
    const auto parameter = to_part(words.next());
    const std::string_view how = words.next();
    const auto begin = expression(words.next()), end = expression(words.next());
    if (!parameter || !is_pointer(*parameter) || (how != "reads" && how != "writes")) return false;
    if (!begin || !end || !words.done()) return false;
    steps.touched.push_back({*parameter, how == "writes", *begin, *end});
    return true;
  }

  // "variable coefficients 24"
  bool variable(Steps& steps) {
    Words words = line("variable");
    const std::string_view name = words.next();
    const auto bytes = words.number<std::uint64_t>(1, std::uint64_t{1} << 40);
    if (version_ < with_parts || !is_name(name) || !bytes || !words.done()) return false;
    steps.variables.push_back({std::string(name), *bytes});
    return true;
  }

  bool variant() {
    Words head = line("variant"), grid = line("grid");
    Variant made;
    made.entry = head.next();
    made.name = head.next();
    const auto kind = std::ranges::find(kinds, head.next());
    if (!is_name(made.entry) || !is_name(made.name) || kind == kinds.end()) return false;
    if (!head.done()) {
      made.waits = version_ >= with_waiting_variants && head.next() == "waits";
      if (!made.waits || !head.done()) return false;
    }
    made.kind = static_cast<Kind>(kind - kinds.begin());
    unsigned copies = 1, axes = 0;
    for (unsigned& divisor : made.divide) {
      const auto read = grid.number<unsigned>(1, most_copies);
      if (!read) return false;
      divisor = *read;
      copies *= divisor;
      axes += divisor > 1 ? 1 : 0;
    }
    const auto rest = std::ranges::find(rests, grid.next());
    if (copies > most_copies || !grid.done() || rest == rests.end()) return false;
    made.rest = static_cast<Rest>(rest - rests.begin());
    if (made.rest == Rest::by_itself && axes != 1) return false;
    if (made.reshapes() && (copies != 1 || !read_block(made))) return false;
    if (rest_.starts_with("rows ") && !read_rows(made)) return false;
    Words gains = line("gains");
    while (!gains.done())
      if (!gain(gains.next(), made)) return false;
    result_.variants.push_back(std::move(made));
    return true;
  }

  // "128 0 0"
  bool read_block(Variant& variant) {
    Words sizes = line("block");
    unsigned threads = 1;
    for (unsigned& size : variant.block) {
      const auto read = sizes.number<unsigned>(0, 1024);
      if (!read || (threads *= std::max(*read, 1U)) > 1024) return false;
      size = *read;
    }
    return sizes.done() && variant.block[0] != 0 && variant.block[2] <= 64;
  }

  // "8 y"
  bool read_rows(Variant& variant) {
    Words words = line("rows");
    const auto count = words.number<unsigned>(2, warp_lanes);
    const std::string_view axis = words.next();
    if (!count || (axis != "y" && axis != "z") || !words.done()) return false;
    variant.rows = {*count, axis == "y" ? 1U : 2U};
    return variant.kind == Kind::remapped && variant.rest == Rest::none &&
           variant.divide == std::array{1U, 1U, 1U};
  }

  // "128:0.9/1.1/..."
  static bool gain(std::string_view word, Variant& variant) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) return word == "-" && variant.gains.empty();
    const auto threads = Words::to_number<unsigned>(word.substr(0, colon), 1, 1024);
    if (!threads) return false;
    if (!variant.gains.empty() && variant.gains.back().threads >= *threads) return false;
    Gain made{.threads = *threads};
    std::string_view rest = word.substr(colon + 1);
    for (double& value : made.by_waves) {
      const std::string_view text = rest.substr(0, rest.find('/'));
      const auto read = Words::to_number<double>(text, 0.0, 1e3);
      if (!read) return false;
      value = *read;
      rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    }
    if (!rest.empty()) return false;
    variant.gains.push_back(made);
    return true;
  }

  std::string_view rest_;
  const unsigned version_; // of the contract
  Contract result_;
};

std::string text_of(const Elements& elements) {
  std::string text = number(elements.bytes) + ' ' + to_word(elements.begin);
  for (const auto& [stride, count] : elements.along)
    text += ' ' + to_word(stride) + ' ' + to_word(count);
  return text + '\n';
}

std::string text_of(const std::vector<Condition>& conditions) {
  std::string text;
  for (const Condition& condition : conditions)
    text += "require " + to_word(condition.value) + ' ' + condition.otherwise + '\n';
  return text;
}

// `before`: the one in front of it, of which it has no need to say the same again.
std::string text_of(const Steps& steps, const Steps* before) {
  std::string text = "steps " + steps.entry + ' ' + number(steps.count);
  if (steps.waits) text += " waits";
  if (steps.is_told) text += " told";
  if (const auto& rotation = steps.rotation)
    text += "\nrotate " + to_word(rotation->old) + ':' + to_word(rotation->now) + ':' +
            to_word(rotation->next);
  else
    text += "\nswap";
  for (const Swap& swap : steps.swaps)
    text += ' ' + to_word(swap.in) + ':' + to_word(swap.out);
  text += "\nblock";
  for (const auto& sizes : {steps.block, steps.covers})
    for (const unsigned size : sizes)
      text += ' ' + number(size);
  text += '\n';
  if (steps.has_extents()) {
    text += "extent";
    for (const Expression& extent : steps.extents)
      text += ' ' + to_word(extent);
    text += '\n';
  }
  if (before != nullptr && steps.is_told && before->conditions == steps.conditions &&
      before->touched == steps.touched && before->variables == steps.variables &&
      before->stored == steps.stored)
    return text + "alike\n";
  text += text_of(steps.conditions);
  for (const Touched& touched : steps.touched)
    text += "touch " + to_word(touched.parameter) + (touched.written ? " writes " : " reads ") +
            to_word(touched.begin) + ' ' + to_word(touched.end) + '\n';
  for (const Variable& variable : steps.variables)
    text += "variable " + variable.name + ' ' + number(variable.bytes) + '\n';
  if (steps.stored) text += "stores " + text_of(*steps.stored);
  return text;
}

std::string text_of(const CopyKernel& copy) {
  return "copies " + to_word(copy.from) + ':' + to_word(copy.to) + "\nelements " +
         text_of(copy.elements) + text_of(copy.conditions);
}

} // namespace

std::uint64_t hash(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    sum *= 0x100000001b3;
  }
  return sum;
}

std::string symbol_of(std::string_view kernel) {
  return std::string(symbol_prefix) + std::string(kernel);
}

namespace {

// Something is said of what is in a structure, or of a variable.
bool has_parts(const Contract& contract, const Steps& steps) {
  const auto is_part = [&](unsigned part) {
    return byte_of(part) != 0 ||
           (number_of(part) < contract.places.size() && contract.places[number_of(part)].size > 8);
  };
  const auto has = [&](const Expression& expression) {
    return std::ranges::any_of(expression, [&](const Token& token) {
      return token.kind == Token::Kind::parameter && is_part(static_cast<unsigned>(token.value));
    });
  };
  return !steps.variables.empty() || std::ranges::any_of(steps.extents, has) ||
         std::ranges::any_of(steps.conditions, has, &Condition::value) ||
         std::ranges::any_of(steps.touched, [&](const Touched& touched) {
           return is_part(touched.parameter) || has(touched.begin) || has(touched.end);
         });
}

unsigned version_of(const Contract& contract) {
  if (contract.copy ||
      std::ranges::any_of(contract.steps, [](const Steps& s) { return s.stored.has_value(); }))
    return with_copies;
  if (std::ranges::any_of(contract.steps,
                          [&](const Steps& steps) { return has_parts(contract, steps); }))
    return with_parts;
  if (contract.text != 0) return with_text;
  if (std::ranges::any_of(contract.steps, &Steps::is_told)) return with_told_steps;
  if (std::ranges::any_of(contract.steps, &Steps::has_extents)) return with_extents;
  if (std::ranges::any_of(contract.variants, &Variant::waits)) return with_waiting_variants;
  const auto is_later = [](const Steps& steps) { return steps.rotation || steps.waits; };
  return std::ranges::any_of(contract.steps, is_later) ? with_waiting_steps : first_version;
}

} // namespace

std::string encode(const Contract& contract) {
  std::string text = "kernel " + contract.kernel + ' ' + hexadecimal(contract.code) +
                     (contract.text == 0 ? "" : ' ' + hexadecimal(contract.text)) +
                     "\nparameters " + number(contract.parameters) + ' ' +
                     number(contract.parameter_bytes) + "\nplaces";
  for (const ParameterSlot& place : contract.places)
    text += ' ' + number(place.offset) + ':' + number(place.size);
  text += contract.places.empty() ? " -\n" : "\n";
  for (const Access& access : contract.accesses) {
    text += "access " + number(access.count) + ' ' + number(access.bytes);
    for (const std::int64_t stride : access.along)
      text += ' ' + (stride == far_apart ? std::string(far_word) : std::to_string(stride));
    text += '\n';
  }
  for (const Variant& variant : contract.variants) {
    text += "variant " + variant.entry + ' ' + variant.name + ' ' +
            std::string(kinds.at(static_cast<std::size_t>(variant.kind)));
    if (variant.waits) text += " waits";
    text += "\ngrid";
    for (const unsigned divisor : variant.divide)
      text += ' ' + number(divisor);
    text += ' ' + std::string(rests.at(static_cast<std::size_t>(variant.rest)));
    if (variant.reshapes()) {
      text += "\nblock";
      for (const unsigned size : variant.block)
        text += ' ' + number(size);
    }
    if (variant.rows.count != 0)
      text += "\nrows " + number(variant.rows.count) + ' ' + "xyz"[variant.rows.axis];
    text += "\ngains";
    for (const Gain& gain : variant.gains)
      for (std::size_t n = 0; n < waves.size(); ++n)
        text += (n == 0 ? ' ' + number(gain.threads) + ':' : "/") + fixed("%.3f", gain.by_waves[n]);
    text += variant.gains.empty() ? " -\n" : "\n";
  }
  const Steps* before = nullptr;
  for (const Steps& steps : contract.steps)
    text += text_of(steps, std::exchange(before, &steps));
  if (contract.copy) text += text_of(*contract.copy);
  return std::string(magic) + ' ' + number(version_of(contract)) + ' ' + number(text.size()) + ' ' +
         hexadecimal(hash(text)) + '\n' + text;
}

tl::expected<Contract, std::string> decode(std::string_view bytes) {
  const auto refused = [](std::string why) { return tl::unexpected<std::string>(std::move(why)); };
  if (bytes.size() > most_bytes) return refused("too large");
  const std::size_t end = bytes.find('\n');
  if (end == std::string_view::npos) return refused("not a contract");
  Words head(bytes.substr(0, end));
  if (head.next() != magic) return refused("not a contract");
  const auto its_version = head.number<unsigned>(0, ~0U);
  if (!its_version) return refused("not a contract");
  if (*its_version < first_version || *its_version > with_copies)
    return refused("of version " + number(*its_version) + ", which is not " +
                   number(first_version) + " to " + number(with_copies));
  const auto size = head.number<std::size_t>(0, most_bytes);
  const std::string_view sum = head.next();
  bytes.remove_prefix(end + 1);
  if (!size || !head.done() || *size > bytes.size()) return refused("damaged");
  bytes = bytes.substr(0, *size);
  if (hexadecimal(hash(bytes)) != sum) return refused("damaged");
  return Reader(bytes, *its_version).run();
}

double gain_of(const Variant& variant, unsigned threads, double of_waves) {
  const auto& gains = variant.gains;
  if (gains.empty()) return 0;
  const auto by_waves = [&](const Gain& gain) {
    return between(waves.begin(), waves.end(), gain.by_waves.begin(), of_waves);
  };
  std::vector<double> blocks, values;
  for (const Gain& gain : gains) {
    blocks.push_back(gain.threads);
    values.push_back(by_waves(gain));
  }
  return between(blocks.begin(), blocks.end(), values.begin(), threads);
}

} // namespace ptxasw::contract
