// Puts a thread's numbers into terms, and reads them over whole numbers.
#include "passes/time_tile/polynomial/block_reader.hpp"

#include "emulator/load_key.hpp"
#include "passes/time_tile/polynomial/cases.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <algorithm>

namespace ptxasw::passes {

using emulator::AtomKind;
using emulator::Event;
using emulator::EventKind;
using sym::Kind;
using sym::Term;

namespace {

constexpr std::size_t most_choices = 8, most_values = 8;

Meaning meaning_of(const std::array<Term, 3>& numbers) {
  Meaning meaning;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (numbers[axis].valid()) meaning.axes.emplace(numbers[axis].id, axis);
  return meaning;
}

bool is_kind(const sym::Context& context, Term t, AtomKind kind) {
  return context.kind(t) == Kind::atom &&
         context.atom_info(t).kind == static_cast<std::uint32_t>(kind);
}

} // namespace

BlockReader::BlockReader(emulator::Kernel& kernel, const BlockShape& shape)
    : k_(kernel), c_(*kernel.context), shape_(shape) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    thread_[axis] = k_.trace.special(ptx::along(ptx::Special::tid_x, axis));
    block_[axis] = k_.trace.special(ptx::along(ptx::Special::ctaid_x, axis));
    if (!block_[axis].valid() || c_.value(block_[axis])) continue;
    const sym::Atom& block = c_.atom_info(block_[axis]);
    number_[axis] = c_.atom({.name = std::string("block.") + "xyz"[axis],
                             .width = block.width,
                             .kind = static_cast<std::uint32_t>(AtomKind::unknown),
                             .lo = block.lo,
                             .hi = block.hi});
  }
  reader_.emplace(kernel, meaning_of(number_));
}

Term BlockReader::at(Term t, const ThreadInBlock& thread) {
  sym::Context::Substitution known;
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (thread_[axis].valid() && !c_.value(thread_[axis]))
      known.emplace(thread_[axis].id, c_.constant(c_.width(thread_[axis]), thread[axis]));
    if (number_[axis].valid()) known.emplace(block_[axis].id, number_[axis]);
  }
  return c_.substitute(t, known);
}

// --- Conditions ---------------------------------------------------------------------------------

std::optional<Formula> BlockReader::condition(Term t, const ThreadInBlock& thread) {
  const Term own = at(t, thread);
  const auto [known, missing] = conditions_.try_emplace(own.id);
  if (!missing) return known->second;
  now_ = thread;
  Choices choices;
  std::optional<Formula> made = read(own, choices);
  conditions_[own.id] = made;
  return made;
}

std::optional<Formula> BlockReader::read(Term t, Choices& choices) {
  c_.spend(8);
  if (c_.width(t) != 1) return std::nullopt;
  if (const auto value = c_.value(t)) return always(*value != 0);
  if (const auto negated = c_.negated(t)) {
    const auto inner = read(*negated, choices);
    return inner ? std::optional(not_(*inner)) : std::nullopt;
  }
  if (const auto apart = signs_apart(c_, t)) return read(*apart, choices);
  switch (c_.kind(t)) {
  case Kind::and_: return joined(t, true, choices);
  case Kind::or_: return joined(t, false, choices);
  case Kind::eq:
  case Kind::slt:
  case Kind::ult: return compared(t, choices);
  default: return std::nullopt;
  }
}

std::optional<Formula> BlockReader::joined(Term t, bool is_all, Choices& choices) {
  std::vector<Formula> parts;
  const std::vector<Term> terms(c_.args(t).begin(), c_.args(t).end());
  for (const Term term : terms) {
    auto part = read(term, choices);
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
  }
  return is_all ? all_of(std::move(parts)) : any_of(std::move(parts));
}

// A number that is the term modulo 2^width, of any width: 16 * block == 0 is asked of 28 bits.
std::optional<IntegerPolynomial> BlockReader::whole(Term t, Reading& reading) const {
  const unsigned width = c_.width(t);
  if (width == 32 || width == 64) return reader_->read(t, reading);
  if (const auto value = c_.value(t); value && width < 64)
    return IntegerPolynomial(static_cast<Number>(*value));
  if (c_.kind(t) != Kind::extract || c_.low(t) != 0) return std::nullopt;
  return reader_->read(c_.args(t)[0], reading);
}

// What the machine compares are these numbers, as long as they are in range. Without signs a < b
// is 0 <= a < b: a negative a is 2^(w-1) or more, and b is less.
std::optional<Formula> BlockReader::compared(Term t, Choices& choices) {
  const Term left = c_.args(t)[0], right = c_.args(t)[1];
  const unsigned width = c_.width(left);
  Reading reading{.ranges = {}, .choices = &choices, .open = {}};
  const auto a = whole(left, reading);
  if (reading.open.valid()) return by_sides(t, reading.open, choices);
  const auto b = whole(right, reading);
  if (reading.open.valid()) return by_sides(t, reading.open, choices);
  if (!a || !b) return std::nullopt;
  const IntegerPolynomial less = *b - *a;
  if (less.too_large() || !less.is_linear()) return std::nullopt;
  const Number half = Number{1} << (width - 1);
  if (c_.kind(t) == Kind::eq) {
    reading.ranges.push_back({less, 1 - 2 * half, 2 * half - 1});
  } else {
    const bool is_signed = c_.kind(t) == Kind::slt;
    reading.ranges.push_back({*a, -half, half - 1});
    reading.ranges.push_back({*b, is_signed ? -half : 0, half - 1});
  }
  require(reading.ranges);
  const auto value = scaled(less), least = scaled(*a);
  if (!value || !least) return std::nullopt;
  if (c_.kind(t) == Kind::eq) return is_zero(value->first);
  const Formula is_less = not_negative(value->first - IntegerPolynomial(1));
  return c_.kind(t) == Kind::slt ? is_less : all_of({not_negative(least->first), is_less});
}

std::optional<Formula> BlockReader::by_sides(Term t, Term open, Choices& choices) {
  if (choices.size() == most_choices) return std::nullopt;
  const auto chosen = read(open, choices);
  if (!chosen) return std::nullopt;
  std::vector<Formula> ways;
  for (const bool side : {true, false}) {
    choices[open] = side;
    auto way = read(t, choices);
    choices.erase(open);
    if (!way) return std::nullopt;
    ways.push_back(all_of({side ? *chosen : not_(*chosen), std::move(*way)}));
  }
  return any_of(std::move(ways));
}

// --- Addresses ----------------------------------------------------------------------------------

std::optional<BlockReader::Shared> BlockReader::shared(Term address, const ThreadInBlock& thread) {
  auto place = behind_variable(at(address, thread));
  if (!place || place->offset < 0) return std::nullopt;
  return place;
}

// Addresses of shared memory have 32 bits, and variables end far below 2^31: offsets are small
// numbers with a sign, whichever of them an extension takes in.
std::optional<BlockReader::Shared> BlockReader::behind_variable(Term t) const {
  const unsigned width = c_.width(t);
  if (width != 32 && width != 64) return std::nullopt;
  if (c_.kind(t) == Kind::zext || (c_.kind(t) == Kind::extract && c_.low(t) == 0))
    return behind_variable(c_.args(t)[0]);
  if (is_kind(c_, t, AtomKind::symbol)) {
    const ptx::Symbol& symbol = k_.body.symbols[c_.atom_info(t).tag];
    if (symbol.kind != ptx::Symbol::Kind::variable || symbol.space != ptx::Space::shared)
      return std::nullopt;
    return Shared{shared_variable(c_.atom_info(t).tag), 0};
  }
  if (c_.kind(t) != Kind::poly) return std::nullopt;
  const sym::Poly poly = c_.poly(t);
  if (poly.terms.size() != 1 || poly.terms[0].coefficient != 1 || poly.terms[0].factors.size() != 1)
    return std::nullopt;
  auto place = behind_variable(poly.terms[0].factors[0]);
  const std::int64_t offset = width == 64 ? static_cast<std::int64_t>(poly.constant)
                                          : static_cast<std::int32_t>(poly.constant);
  if (!place || offset != static_cast<std::int32_t>(offset)) return std::nullopt;
  place->offset += offset;
  return place;
}

std::uint32_t BlockReader::shared_variable(std::uint32_t symbol) const {
  const auto& all = k_.body.symbols;
  if (all[symbol].size != 0) return symbol;
  const auto first = std::ranges::find_if(all, [](const ptx::Symbol& one) {
    return one.kind == ptx::Symbol::Kind::variable && one.space == ptx::Space::shared &&
           one.size == 0;
  });
  return static_cast<std::uint32_t>(first - all.begin());
}

// The address of the load that a value of so many bytes is from; invalid: it is from elsewhere.
Term BlockReader::loaded_from(Term value, unsigned bytes) const {
  if (c_.width(value) != bytes * 8) return {};
  if (c_.kind(value) == Kind::apply) {
    const Term address = c_.args(value)[0];
    const Term same = emulator::unchanging_load(c_, ptx::Space::global, bytes * 8, address);
    return same == value ? address : Term{};
  }
  if (c_.kind(value) == Kind::extract && c_.low(value) == 0) value = c_.args(value)[0];
  if (!is_kind(c_, value, AtomKind::loaded)) return {};
  const sym::Atom& atom = c_.atom_info(value);
  const auto event = std::ranges::find(k_.trace.events, atom.tag, &Event::inst);
  if (event == k_.trace.events.end() || event->kind != EventKind::load ||
      event->space != ptx::Space::global || event->ordered || !event->plain_cache ||
      event->element_bytes != bytes || c_.value(event->guard) != sym::Bits{1})
    return {};
  return c_.add(event->address, c_.constant(64, std::uint64_t{atom.tag2} * bytes));
}

std::vector<BlockReader::Value> BlockReader::values(Term t, unsigned bytes,
                                                    const ThreadInBlock& thread) {
  std::vector<Value> all;
  if (c_.kind(t) == Kind::ite) {
    const std::vector<Term> parts(c_.args(t).begin(), c_.args(t).end());
    const auto chosen = condition(parts[0], thread);
    if (!chosen) return {{always(true), std::nullopt}};
    for (const bool side : {true, false})
      for (Value& value : values(parts[side ? 1 : 2], bytes, thread)) {
        value.when = all_of({side ? *chosen : not_(*chosen), std::move(value.when)});
        all.push_back(std::move(value));
      }
    return all;
  }
  if (const auto bits = c_.value(t); bits && c_.width(t) == bytes * 8)
    return {{always(true), std::nullopt, *bits}};
  const Term address = loaded_from(t, bytes);
  if (!address.valid()) return {{always(true), std::nullopt}};
  now_ = thread;
  Choices choices;
  add_elements(at(address, thread), always(true), choices, all);
  return all;
}

void BlockReader::add_elements(Term address, const Formula& when, Choices& choices,
                               std::vector<Value>& all) {
  c_.spend(8);
  if (all.size() > most_values || choices.size() > most_choices) {
    all.push_back({when, std::nullopt});
    return;
  }
  Reading reading{.ranges = {}, .choices = &choices, .open = {}};
  auto place = reader_->place(address, reading);
  if (!place && reading.open.valid()) {
    const Term open = reading.open;
    const auto chosen = read(open, choices);
    if (!chosen) {
      all.push_back({when, std::nullopt});
      return;
    }
    for (const bool side : {true, false}) {
      choices[open] = side;
      add_elements(address, all_of({when, side ? *chosen : not_(*chosen)}), choices, all);
      choices.erase(open);
    }
    return;
  }
  const auto offset = place ? from_begin(place->offset) : std::nullopt;
  if (!offset) {
    all.push_back({when, std::nullopt});
    return;
  }
  require(reading.ranges);
  all.push_back({when, IntegerPolynomialReader::Place{place->parameter, *offset}});
}

// --- Coordinates --------------------------------------------------------------------------------

// Of the block's number that of its first place is the shape's multiple.
std::optional<IntegerPolynomial> BlockReader::from_begin(const IntegerPolynomial& value) const {
  IntegerPolynomial made = value.elsewhere();
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto stride = quotient(value.along(axis), IntegerPolynomial(shape_[axis]));
    if (!stride) return std::nullopt;
    made = made + *stride * IntegerPolynomial::coordinate(axis);
  }
  if (made.too_large()) return std::nullopt;
  return made;
}

// So many times the value, if that makes it possible.
std::optional<std::pair<IntegerPolynomial, Number>>
BlockReader::scaled(const IntegerPolynomial& value) const {
  if (auto made = from_begin(value)) return std::pair{std::move(*made), Number{1}};
  Number times = 1;
  for (const std::uint32_t size : shape_)
    times *= size;
  auto made = from_begin(value * IntegerPolynomial(times));
  return made ? std::optional(std::pair{std::move(*made), times}) : std::nullopt;
}

void BlockReader::require(const std::vector<InRange>& ranges) {
  for (const InRange& range : ranges) {
    const auto known = scaled(range.value);
    if (!known || !known->first.is_linear()) {
      never_holds_ = true;
      return;
    }
    const auto& [begin, times] = *known;
    // Of the block's first place or, to have few of them, of the thread's.
    std::array<Number, 3> back{};
    for (unsigned axis = 0; axis < 3; ++axis)
      if (!begin.along(axis).constant()) back[axis] = -static_cast<Number>(now_[axis]);
    const IntegerPolynomial value = moved_by(begin, back);
    auto terms = value.terms();
    Number constant = 0;
    if (const auto found = terms.find({}); found != terms.end()) {
      constant = found->second;
      terms.erase(found);
    }
    const Number least = range.least * times, most = range.most * times;
    if (terms.empty()) {
      never_holds_ = never_holds_ || constant < least || constant > most;
      continue;
    }
    const auto [place, missing] = ranges_.try_emplace(
        {terms, {least, most}}, Range{value - IntegerPolynomial(constant), constant, constant,
                                      least, most, range.otherwise});
    place->second.first = std::min(place->second.first, constant);
    place->second.last = std::max(place->second.last, constant);
  }
}

// At all places of the grid or, along axes of which the number is that of the block's first place,
// at all that have the rest of a block behind them.
std::optional<std::vector<contract::Condition>> BlockReader::conditions() const {
  if (never_holds_) return std::nullopt;
  const auto grid = [&](const IntegerPolynomial& value) {
    Box box = whole_launch();
    for (unsigned axis = 0; axis < 3; ++axis)
      if (value.along(axis).constant())
        box[axis].end = minus(std::move(box[axis].end), number(Number{shape_[axis]} - 1));
    return box;
  };
  std::vector<contract::Condition> all;
  for (const auto& [key, range] : ranges_)
    if (!add_in_range(all, grid(range.value), range.value,
                      {range.least - range.first, range.most - range.last}, range.otherwise))
      return std::nullopt;
  return all;
}

} // namespace ptxasw::passes
