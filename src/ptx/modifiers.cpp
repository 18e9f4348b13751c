// Modifiers as a table: what each means, for the few where it matters by opcode.
#include "ptx/isa.hpp"

#include "ptx/name_table.hpp"

#include <algorithm>

namespace ptxasw::ptx {

namespace {

enum class Field : std::uint8_t {
  ignored, // a hint: no effect on values or ordering
  type,
  space,
  compare,
  bool_op,
  rounding,
  half,
  order,
  scope,
  cache,
  sub,
  vector,
  shape,
  matrices,
  flag,
  half_or_compare, // .lo .hi
  bool_or_sub,     // .and .or .xor
  uni_or_sub,      // .uni
  sync_or_sub,     // .sync
};

using Flag = bool Modifiers::*;

struct Entry {
  std::string_view name;
  Field field = Field::ignored;
  std::uint8_t value = 0;       // of the field's enumeration
  std::uint8_t other_value = 0; // of its second meaning
  Flag flag = nullptr;
  bool opaque = false; // decoded as well as this table can, but not modelled further
};

template <typename Value> constexpr Entry entry(std::string_view name, Field field, Value value) {
  return {name, field, static_cast<std::uint8_t>(value)};
}
constexpr Entry other(std::string_view name) {
  return entry(name, Field::type, Type::other);
}
constexpr Entry opaque(Entry from) {
  from.opaque = true;
  return from;
}
constexpr Entry flag(std::string_view name, Flag value) {
  return {name, Field::flag, 0, 0, value};
}
template <typename First, typename Second>
constexpr Entry either(std::string_view name, Field field, First first, Second second) {
  return {name, field, static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)};
}
constexpr Entry matrices(std::string_view name, std::uint8_t count) {
  return opaque({name, Field::matrices, count});
}
constexpr Entry hint(std::string_view name) {
  return {name};
}

// Of entries of the same name the first counts: what is more than a word of a list comes before the
// lists.
constexpr auto table = std::to_array<Entry>({
    either(".lo", Field::half_or_compare, Half::lo, Compare::lo),
    either(".hi", Field::half_or_compare, Half::hi, Compare::hi),
    entry(".wide", Field::half, Half::wide),
    either(".and", Field::bool_or_sub, BoolOp::and_, Sub::and_),
    either(".or", Field::bool_or_sub, BoolOp::or_, Sub::or_),
    either(".xor", Field::bool_or_sub, BoolOp::xor_, Sub::xor_),
    either(".uni", Field::uni_or_sub, 0, Sub::uni),
    either(".sync", Field::sync_or_sub, 0, Sub::sync),
    opaque(entry(".shift", Field::sub, Sub::shift)),
    opaque(entry(".fractional", Field::sub, Sub::fractional)),
    opaque(entry(".range", Field::sub, Sub::range)),
    opaque(entry(".cvt", Field::sub, Sub::cvt)),

#define PTX_TYPE(name, width, family) entry("." #name, Field::type, Type::name),
#define PTX_SPACE(name) entry(spelled("." #name), Field::space, Space::name),
#define PTX_COMPARE(name) entry("." #name, Field::compare, Compare::name),
#define PTX_ROUNDING(name) entry("." #name, Field::rounding, Rounding::name),
#define PTX_ORDER(name) entry(spelled("." #name), Field::order, Order::name),
#define PTX_SCOPE(name) entry("." #name, Field::scope, Scope::name),
#define PTX_CACHE(name) entry("." #name, Field::cache, Cache::name),
#define PTX_SUB(name) entry(spelled("." #name), Field::sub, Sub::name),
#define PTX_SHAPE(name) opaque(entry("." #name, Field::shape, Shape::name)),
#include "ptx/words.def"

    entry(".param::entry", Field::space, Space::param),
    entry(".param::func", Field::space, Space::param),
    entry(".shared::cta", Field::space, Space::shared),
    opaque(entry(".shared::cluster", Field::space, Space::shared)),
    entry(".gl", Field::scope, Scope::gpu),
    entry(".L1::no_allocate", Field::cache, Cache::cg), // the same by other names
    entry(".L1::evict_first", Field::cache, Cache::cs),

    other(".e4m3"),
    other(".e5m2"),
    other(".e4m3x4"),
    other(".e5m2x4"),
    other(".e3m2"),
    other(".e2m3"),
    other(".e2m1"),
    other(".e2m1x2"),
    other(".e3m2x4"),
    other(".e2m3x4"),
    other(".e2m1x4"),
    other(".ue8m0"),
    other(".ue8m0x2"),
    other(".ue4m3"),
    other(".b1"),
    other(".b4"),
    other(".u4"),
    other(".s4"),
    other(".u2"),
    other(".s2"),
    other(".b1024"),
    other(".texref"),
    other(".samplerref"),
    other(".surfref"),

    entry(".v2", Field::vector, 2),
    entry(".v4", Field::vector, 4),
    entry(".v8", Field::vector, 8),
    matrices(".x1", 1),
    matrices(".x2", 2),
    matrices(".x4", 4),
    opaque(flag(".trans", &Modifiers::trans)),
    opaque(hint(".row")), // of both of an mma of these shapes, .row.col is all there is
    opaque(hint(".col")),

    flag(".nc", &Modifiers::nc),
    flag(".L2::cache_hint", &Modifiers::cache_hint),
    flag(".to", &Modifiers::to),
    flag(".cc", &Modifiers::cc),
    flag(".approx", &Modifiers::wide_approx),
    flag(".full", &Modifiers::wide_approx),
    flag(".ftz", &Modifiers::ftz),
    flag(".sat", &Modifiers::sat),
    flag(".satfinite", &Modifiers::satfinite),
    flag(".relu", &Modifiers::relu),
    flag(".NaN", &Modifiers::nan),
    flag(".xorsign", &Modifiers::xorsign),
    flag(".abs", &Modifiers::abs),
    flag(".shiftamt", &Modifiers::shiftamt),
    flag(".aligned", &Modifiers::aligned),
    flag(".noftz", &Modifiers::noftz),
    flag(".oob", &Modifiers::oob),

    hint(".unified"),
    hint(".noinc"),
    hint(".L1"),
    hint(".L2"),
    hint(".L1::evict_normal"),
    hint(".L1::evict_unchanged"),
    hint(".L1::evict_last"),
    hint(".L2::evict_normal"),
    hint(".L2::evict_first"),
    hint(".L2::evict_last"),
    hint(".L2::evict_unchanged"),
    hint(".L2::64B"),
    hint(".L2::128B"),
    hint(".L2::256B"),
});
constexpr NameTable<table.size(), 1024> names{table};

bool compares(Op op) {
  return op == Op::set || op == Op::setp || op == Op::vset || op == Op::vset2 || op == Op::vset4;
}

// Decodes one instruction's modifiers, in order. Whatever has no place left is unknown.
class Decoder {
public:
  explicit Decoder(Op op) : op_(op) {}

  void add(std::string_view modifier) {
    const Entry* found = names.find(table, modifier);
    if (found == nullptr) return not_read();
    result_.unknown |= found->opaque;
    switch (found->field) {
    case Field::ignored: break;
    case Field::type: add_type(static_cast<Type>(found->value)); break;
    case Field::space: add_space(static_cast<Space>(found->value)); break;
    case Field::compare: set(result_.compare, found->value); break;
    case Field::bool_op: set(result_.bool_op, found->value); break;
    case Field::rounding: set(result_.rounding, found->value); break;
    case Field::half: set(result_.half, found->value); break;
    case Field::order: add_order(static_cast<Order>(found->value)); break;
    case Field::scope: set(result_.scope, found->value); break;
    case Field::cache: set(result_.cache, found->value); break;
    case Field::sub: add_sub(static_cast<Sub>(found->value)); break;
    case Field::vector: result_.vector = found->value; break;
    case Field::shape: set(result_.shape, found->value); break;
    case Field::matrices: result_.matrices = found->value; break;
    case Field::flag: result_.*(found->flag) = true; break;
    case Field::half_or_compare:
      if (compares(op_))
        set(result_.compare, found->other_value);
      else
        set(result_.half, found->value);
      break;
    case Field::bool_or_sub:
      if (compares(op_) || op_ == Op::lop3)
        set(result_.bool_op, found->value);
      else
        add_sub(static_cast<Sub>(found->other_value));
      break;
    case Field::uni_or_sub:
      if (op_ == Op::vote)
        add_sub(Sub::uni);
      else
        result_.uni = true;
      break;
    case Field::sync_or_sub:
      if (group(op_) == Group::barrier)
        add_sub(Sub::sync);
      else
        result_.sync = true;
      break;
    }
  }

  [[nodiscard]] const Modifiers& result() const { return result_; }

private:
  void not_read() { result_.unknown = result_.unread = true; }

  template <typename Enum> void set(Enum& field, std::uint8_t value) {
    if (field != Enum::none) not_read();
    field = static_cast<Enum>(value);
  }

  void add_type(Type type) {
    Type* slots[] = {&result_.type, &result_.type2, &result_.type3, &result_.type4};
    const auto free = std::ranges::find_if(slots, [](Type* t) { return *t == Type::none; });
    if (free == std::end(slots))
      not_read();
    else
      **free = type;
    result_.unknown |= result_.type4 != Type::none;
  }

  void add_space(Space space) {
    if (result_.space == Space::generic)
      result_.space = space;
    else if (result_.space2 == Space::generic)
      result_.space2 = space;
    else
      not_read();
  }

  // .mmio.relaxed and .weak.volatile-like pairs keep the stronger word.
  void add_order(Order order) { result_.order = std::max(result_.order, order); }

  void add_sub(Sub sub) {
    Sub* slots[] = {&result_.sub, &result_.sub2, &result_.sub3};
    const auto free = std::ranges::find(slots, Sub::none, [](const Sub* s) { return *s; });
    if (free == std::end(slots))
      not_read();
    else
      **free = sub;
  }

  Op op_;
  Modifiers result_;
};

} // namespace

Modifiers decode(Op op, std::span<const std::string_view> modifiers) {
  Decoder decoder(op);
  for (const std::string_view modifier : modifiers)
    decoder.add(modifier);
  return decoder.result();
}

} // namespace ptxasw::ptx
