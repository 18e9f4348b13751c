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
constexpr Entry type(std::string_view name, Type value) {
  return entry(name, Field::type, value);
}
constexpr Entry other(std::string_view name) {
  return entry(name, Field::type, Type::other);
}
constexpr Entry space(std::string_view name, Space value) {
  return entry(name, Field::space, value);
}
constexpr Entry opaque(Entry from) {
  from.opaque = true;
  return from;
}
constexpr Entry compare(std::string_view name, Compare value) {
  return entry(name, Field::compare, value);
}
constexpr Entry rounding(std::string_view name, Rounding value) {
  return entry(name, Field::rounding, value);
}
constexpr Entry order(std::string_view name, Order value) {
  return entry(name, Field::order, value);
}
constexpr Entry scope(std::string_view name, Scope value) {
  return entry(name, Field::scope, value);
}
constexpr Entry cache(std::string_view name, Cache value) {
  return entry(name, Field::cache, value);
}
constexpr Entry sub(std::string_view name, Sub value) {
  return entry(name, Field::sub, value);
}
constexpr Entry flag(std::string_view name, Flag value) {
  return {name, Field::flag, 0, 0, value};
}
template <typename First, typename Second>
constexpr Entry either(std::string_view name, Field field, First first, Second second) {
  return {name, field, static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)};
}
constexpr Entry vector(std::string_view name, std::uint8_t length) {
  return {name, Field::vector, length};
}
constexpr Entry shape(std::string_view name, Shape value) {
  return opaque(entry(name, Field::shape, value));
}
constexpr Entry matrices(std::string_view name, std::uint8_t count) {
  return opaque({name, Field::matrices, count});
}
constexpr Entry hint(std::string_view name) {
  return {name};
}

constexpr auto table = std::to_array<Entry>({
    type(".pred", Type::pred),
    type(".b8", Type::b8),
    type(".b16", Type::b16),
    type(".b32", Type::b32),
    type(".b64", Type::b64),
    type(".b128", Type::b128),
    type(".u8", Type::u8),
    type(".u16", Type::u16),
    type(".u32", Type::u32),
    type(".u64", Type::u64),
    type(".s8", Type::s8),
    type(".s16", Type::s16),
    type(".s32", Type::s32),
    type(".s64", Type::s64),
    type(".u16x2", Type::u16x2),
    type(".s16x2", Type::s16x2),
    type(".u8x4", Type::u8x4),
    type(".s8x4", Type::s8x4),
    type(".f16", Type::f16),
    type(".f16x2", Type::f16x2),
    type(".bf16", Type::bf16),
    type(".bf16x2", Type::bf16x2),
    type(".tf32", Type::tf32),
    type(".f32", Type::f32),
    type(".f32x2", Type::f32x2),
    type(".f64", Type::f64),
    other(".e4m3"),
    other(".e5m2"),
    type(".e4m3x2", Type::e4m3x2),
    type(".e5m2x2", Type::e5m2x2),
    type(".e2m3x2", Type::e2m3x2),
    type(".e3m2x2", Type::e3m2x2),
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

    space(".reg", Space::reg),
    space(".sreg", Space::sreg),
    space(".const", Space::const_),
    space(".global", Space::global),
    space(".local", Space::local),
    space(".param", Space::param),
    space(".param::entry", Space::param),
    space(".param::func", Space::param),
    space(".shared", Space::shared),
    space(".shared::cta", Space::shared),
    opaque(space(".shared::cluster", Space::shared)),
    space(".tex", Space::tex),

    compare(".eq", Compare::eq),
    compare(".ne", Compare::ne),
    compare(".lt", Compare::lt),
    compare(".le", Compare::le),
    compare(".gt", Compare::gt),
    compare(".ge", Compare::ge),
    compare(".ls", Compare::ls),
    compare(".hs", Compare::hs),
    compare(".equ", Compare::equ),
    compare(".neu", Compare::neu),
    compare(".ltu", Compare::ltu),
    compare(".leu", Compare::leu),
    compare(".gtu", Compare::gtu),
    compare(".geu", Compare::geu),
    compare(".num", Compare::num),
    compare(".nan", Compare::nan),

    rounding(".rn", Rounding::rn),
    rounding(".rz", Rounding::rz),
    rounding(".rm", Rounding::rm),
    rounding(".rp", Rounding::rp),
    rounding(".rna", Rounding::rna),
    rounding(".rs", Rounding::rs),
    rounding(".rni", Rounding::rni),
    rounding(".rzi", Rounding::rzi),
    rounding(".rmi", Rounding::rmi),
    rounding(".rpi", Rounding::rpi),

    either(".lo", Field::half_or_compare, Half::lo, Compare::lo),
    either(".hi", Field::half_or_compare, Half::hi, Compare::hi),
    entry(".wide", Field::half, Half::wide),
    either(".and", Field::bool_or_sub, BoolOp::and_, Sub::and_),
    either(".or", Field::bool_or_sub, BoolOp::or_, Sub::or_),
    either(".xor", Field::bool_or_sub, BoolOp::xor_, Sub::xor_),
    either(".uni", Field::uni_or_sub, 0, Sub::uni),
    either(".sync", Field::sync_or_sub, 0, Sub::sync),

    order(".weak", Order::weak),
    order(".volatile", Order::volatile_),
    order(".relaxed", Order::relaxed),
    order(".acquire", Order::acquire),
    order(".release", Order::release),
    order(".acq_rel", Order::acq_rel),
    order(".sc", Order::sc),
    order(".mmio", Order::mmio),
    scope(".cta", Scope::cta),
    scope(".cluster", Scope::cluster),
    scope(".gpu", Scope::gpu),
    scope(".gl", Scope::gpu),
    scope(".sys", Scope::sys),

    cache(".ca", Cache::ca),
    cache(".cg", Cache::cg),
    cache(".cs", Cache::cs),
    cache(".cv", Cache::cv),
    cache(".lu", Cache::lu),
    cache(".wb", Cache::wb),
    cache(".wt", Cache::wt),
    cache(".L1::no_allocate", Cache::cg), // the same by other names
    cache(".L1::evict_first", Cache::cs),

    sub(".add", Sub::add),
    sub(".inc", Sub::inc),
    sub(".dec", Sub::dec),
    sub(".min", Sub::min),
    sub(".max", Sub::max),
    sub(".cas", Sub::cas),
    sub(".exch", Sub::exch),
    sub(".popc", Sub::popc),
    sub(".up", Sub::up),
    sub(".down", Sub::down),
    sub(".bfly", Sub::bfly),
    sub(".idx", Sub::idx),
    sub(".all", Sub::all),
    sub(".any", Sub::any),
    sub(".ballot", Sub::ballot),
    sub(".l", Sub::l),
    sub(".r", Sub::r),
    sub(".wrap", Sub::wrap),
    sub(".clamp", Sub::clamp),
    sub(".f4e", Sub::f4e),
    sub(".b4e", Sub::b4e),
    sub(".rc8", Sub::rc8),
    sub(".ecl", Sub::ecl),
    sub(".ecr", Sub::ecr),
    sub(".rc16", Sub::rc16),
    sub(".arrive", Sub::arrive),
    sub(".red", Sub::red),
    sub(".warp", Sub::warp),
    sub(".async", Sub::async),
    sub(".bulk", Sub::bulk),
    sub(".finite", Sub::finite),
    sub(".infinite", Sub::infinite),
    sub(".number", Sub::number),
    sub(".notanumber", Sub::notanumber),
    sub(".normal", Sub::normal),
    sub(".subnormal", Sub::subnormal),
    sub(".load", Sub::load),
    sub(".store", Sub::store),
    sub(".ld", Sub::ld),
    sub(".st", Sub::st),
    sub(".mma", Sub::mma),
    sub(".mma_async", Sub::mma_async),
    sub(".cp", Sub::cp),
    sub(".alloc", Sub::alloc),
    sub(".dealloc", Sub::dealloc),
    sub(".relinquish_alloc_permit", Sub::relinquish_alloc_permit),
    opaque(sub(".shift", Sub::shift)),
    sub(".fence", Sub::fence),
    sub(".commit", Sub::commit),
    sub(".wait", Sub::wait),
    sub(".ld_reduce", Sub::ld_reduce),
    sub(".reduce", Sub::reduce),
    sub(".prefetch", Sub::prefetch),
    sub(".tensor", Sub::tensor),
    sub(".commit_group", Sub::commit_group),
    sub(".wait_group", Sub::wait_group),
    sub(".wait_all", Sub::wait_all),
    sub(".read", Sub::read),
    sub(".init", Sub::init),
    sub(".inval", Sub::inval),
    sub(".arrive_drop", Sub::arrive_drop),
    sub(".expect_tx", Sub::expect_tx),
    sub(".complete_tx", Sub::complete_tx),
    sub(".test_wait", Sub::test_wait),
    sub(".try_wait", Sub::try_wait),
    sub(".pending_count", Sub::pending_count),
    sub(".proxy", Sub::proxy),
    sub(".mbarrier_init", Sub::mbarrier_init),
    sub(".launch_dependents", Sub::launch_dependents),
    sub(".try_cancel", Sub::try_cancel),
    sub(".query_cancel", Sub::query_cancel),
    sub(".replace", Sub::replace),
    opaque(sub(".fractional", Sub::fractional)),
    opaque(sub(".range", Sub::range)),
    opaque(sub(".cvt", Sub::cvt)),
    sub(".pack", Sub::pack),
    sub(".po", Sub::po),
    sub(".shr7", Sub::shr7),
    sub(".shr15", Sub::shr15),

    vector(".v2", 2),
    vector(".v4", 4),
    vector(".v8", 8),

    shape(".m8n8", Shape::m8n8),
    shape(".m8n8k16", Shape::m8n8k16),
    shape(".m16n8k4", Shape::m16n8k4),
    shape(".m16n8k8", Shape::m16n8k8),
    shape(".m16n8k16", Shape::m16n8k16),
    shape(".m16n8k32", Shape::m16n8k32),
    matrices(".x1", 1),
    matrices(".x2", 2),
    matrices(".x4", 4),
    opaque(flag(".trans", &Modifiers::trans)),
    opaque(hint(".row")), // of both of an mma of these shapes, .row.col is all there is
    opaque(hint(".col")),

    flag(".nc", &Modifiers::nc),
    flag(".L2::cache_hint", &Modifiers::cache_hint),
    flag(".unified", &Modifiers::unified),
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
    flag(".noinc", &Modifiers::noinc),
    flag(".noftz", &Modifiers::noftz),
    flag(".oob", &Modifiers::oob),

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
constexpr NameTable<table.size(), 512> names{table};

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
