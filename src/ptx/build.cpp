// Text as it was always emitted: a tab, the mnemonic, a blank and a tab, the operands.
#include "ptx/build.hpp"

#include "ptx/whole_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace ptxasw::ptx {

namespace {

std::string_view name(BoolOp join) {
  constexpr std::array<std::string_view, 4> names{"", "and", "or", "xor"};
  return names.at(static_cast<std::size_t>(join));
}

bool is_bits(Type type) {
  return type == bits(bit_width(type));
}

// PTX ISA, "Operand Type Checking": bits agree with any type of their size, integers with each
// other.
bool fits(Type type, Type wanted, bool may_be_wider) {
  if ((type == Type::pred) != (wanted == Type::pred)) return false;
  if (type == Type::none) return !is_float(wanted); // a number
  const unsigned width = bit_width(type), asked = bit_width(wanted);
  if (width != asked && !(may_be_wider && width > asked)) return false;
  return is_bits(type) || is_bits(wanted) || is_float(type) == is_float(wanted);
}

void check(std::string_view mnemonic, Type wanted, Type type, std::string_view text,
           bool may_be_wider = false) {
  if (!fits(type, wanted, may_be_wider))
    throw WrongOperand(
        fmt::format("{}: {} is a .{}, not a .{}", mnemonic, text, name(type), name(wanted)));
}

void check(std::string_view mnemonic, Type wanted, const Source& source,
           bool may_be_wider = false) {
  check(mnemonic, wanted, source.type(), source.text(), may_be_wider);
}

void check(std::string_view mnemonic, const Memory& memory) {
  const Type type = memory.base().type;
  if (!memory.base().empty() && bit_width(type) != 32 && bit_width(type) != 64)
    throw WrongOperand(
        fmt::format("{}: {} is a .{}, not an address", mnemonic, memory.text(), name(type)));
}

std::string typed(std::string_view mnemonic, Type type) {
  return fmt::format("{}.{}", mnemonic, name(type));
}

std::string rounded(std::string_view mnemonic, Rounding rounding, Type type) {
  return typed(fmt::format("{}.{}", mnemonic, name(rounding)), type);
}

// The mnemonic of an access to several values next to each other, which are checked.
std::string vector(std::string_view what, Space space, Type type, std::span<const Reg> values) {
  const std::string mnemonic =
      typed(fmt::format("{}.{}.v{}", what, name(space), values.size()), type);
  for (const Reg& reg : values)
    check(mnemonic, type, reg, true);
  return mnemonic;
}

std::string halves(std::string_view mnemonic, Type type, const Reg& low, const Reg& high) {
  const std::array both{low, high};
  for (const Reg& half : both)
    check(mnemonic, bits(bit_width(type) / 2), half);
  return list(both);
}

} // namespace

Type bits(unsigned width) {
  switch (width) {
  case 1: return Type::pred;
  case 8: return Type::b8;
  case 16: return Type::b16;
  case 32: return Type::b32;
  case 64: return Type::b64;
  case 128: return Type::b128;
  default: return Type::none;
  }
}

Type unsigned_integer(unsigned width) {
  switch (width) {
  case 8: return Type::u8;
  case 16: return Type::u16;
  case 32: return Type::u32;
  case 64: return Type::u64;
  default: return Type::none;
  }
}

Type signed_integer(unsigned width) {
  switch (width) {
  case 8: return Type::s8;
  case 16: return Type::s16;
  case 32: return Type::s32;
  case 64: return Type::s64;
  default: return Type::none;
  }
}

Type register_type(Type type) {
  if (type == Type::f32 || type == Type::f64) return type;
  return type == Type::pred ? type : bits(std::max(16U, bit_width(type)));
}

std::string list(std::span<const Reg> registers) {
  std::string all;
  for (const Reg& reg : registers)
    all += (all.empty() ? "{" : ", ") + reg.name;
  return all + '}';
}

// --- Registers ----------------------------------------------------------------------------------

FreshRegisters::FreshRegisters(const Module& module, std::string_view stem) : prefix_(stem) {
  for (unsigned n = 1; stands_anywhere(module, prefix_); ++n)
    prefix_ = fmt::format("{}{}", stem, n);
}

// No special register is a letter and a number; but a variable may be.
FreshRegisters FreshRegisters::brief(const Module& module) {
  FreshRegisters made(module, "%x");
  made.is_brief_ = true;
  const auto is_odd = [](const Variable& variable) {
    return variable.name.starts_with('%') && variable.space != Space::reg;
  };
  const auto has_odd = [&](const Function& function) {
    return std::ranges::any_of(function.parameters, is_odd);
  };
  if (std::ranges::none_of(module.variables, is_odd) &&
      std::ranges::none_of(module.functions, has_odd))
    made.prefix_ = "%";
  return made;
}

// "%ptxasw_b32_"; or "%r"
std::string FreshRegisters::stem_of(Type type) const {
  if (!is_brief_) return fmt::format("{}_{}_", prefix_, name(type));
  constexpr std::array letters{std::pair(Type::pred, 'p'), std::pair(Type::b16, 'h'),
                               std::pair(Type::b32, 'r'),  std::pair(Type::b64, 'd'),
                               std::pair(Type::b128, 'q'), std::pair(Type::f32, 'f'),
                               std::pair(Type::f64, 'g')};
  return prefix_ + std::ranges::find(letters, type, &std::pair<Type, char>::first)->second;
}

Reg FreshRegisters::make(Type of) {
  const Type type = register_type(of);
  auto pool = std::ranges::find(pools_, type, &Pool::type);
  if (pool == pools_.end()) pool = pools_.insert(pool, {type});
  return {type, fmt::format("{}{}", stem_of(type), pool->count++)};
}

std::string FreshRegisters::declarations() const {
  std::string text;
  for (const auto& [type, count] : pools_)
    text += fmt::format("\t.reg .{} \t{}<{}>;\n", name(type), stem_of(type), count);
  return text;
}

Edit FreshRegisters::declared_at(std::uint32_t offset) const {
  return {{offset, offset}, "\n" + declarations()};
}

std::string label_prefix(const Module& module) {
  std::string prefix = "$ptxasw_";
  while (stands_anywhere(module, prefix))
    prefix += '_';
  return prefix;
}

// --- Operands -----------------------------------------------------------------------------------

Source::Source(Special special) : type_(bits(info(special).width)), text_(info(special).name) {}

Source Source::hex(std::int64_t number) {
  return {Type::none, fmt::format("{:#x}", number)};
}

Source Source::f32(float number) {
  return {Type::f32, fmt::format("0f{:08X}", std::bit_cast<std::uint32_t>(number))};
}

// --- Instructions -------------------------------------------------------------------------------

Emitter Emitter::when(Predicate predicate) const {
  if (!predicate.empty()) check("@", Type::pred, predicate.reg);
  Emitter guarded = *this;
  guarded.predicate_ = std::move(predicate);
  return guarded;
}

Emitter Emitter::unless(Predicate predicate) const {
  predicate.negated = !predicate.negated;
  return when(std::move(predicate));
}

Emitter Emitter::into(Reg result) const {
  Emitter emitter = *this;
  emitter.into_ = std::move(result);
  return emitter;
}

void Emitter::statement(std::string_view text) const {
  text_ += "\n\t";
  if (!predicate_.empty()) text_ += '@' + predicate_.text() + ' ';
  text_ += text;
}

void Emitter::emit(std::string_view mnemonic, std::string_view operands) const {
  statement(fmt::format("{}{}{};", mnemonic, operands.empty() ? "" : " \t", operands));
}

Reg Emitter::result(std::string_view mnemonic, Type type, Sources sources,
                    bool may_be_wider) const {
  Reg result = into_.empty() ? make(type) : into_;
  check(mnemonic, type, result, may_be_wider);
  std::string operands = result.name;
  for (const Source& source : sources)
    operands += ", " + source.text();
  emit(mnemonic, operands);
  return result;
}

Reg Emitter::alike(std::string_view mnemonic, Type type, Sources sources) const {
  for (const Source& source : sources)
    check(mnemonic, type, source);
  return result(mnemonic, type, sources);
}

Reg Emitter::unary(std::string_view name, Type type, const Source& a) const {
  return alike(typed(name, type), type, {a});
}

void Emitter::move(const Reg& to, const Reg& from) const {
  into(to).mov(bits(bit_width(to.type)), from);
}

Reg Emitter::special(Special which) const {
  return mov(info(which).width == 64 ? Type::u64 : Type::u32, which);
}

Reg Emitter::op(Op op, Type type, const Source& a, const Source& b) const {
  return alike(typed(ptx::name(op), type), type, {a, b});
}

// --- Arithmetic ---------------------------------------------------------------------------------

Reg Emitter::shl(Type type, const Source& a, const Source& count) const {
  return shift("shl", type, a, count);
}

Reg Emitter::shr(Type type, const Source& a, const Source& count) const {
  return shift("shr", type, a, count);
}

Reg Emitter::shift(std::string_view name, Type type, const Source& a, const Source& count) const {
  const std::string mnemonic = typed(name, type);
  check(mnemonic, type, a);
  check(mnemonic, Type::u32, count);
  return result(mnemonic, type, {a, count});
}

Reg Emitter::mul(Type type, const Source& a, const Source& b) const {
  return alike(typed("mul.lo", type), type, {a, b});
}

Reg Emitter::mul_hi(Type type, const Source& a, const Source& b) const {
  return alike(typed("mul.hi", type), type, {a, b});
}

Reg Emitter::mul_wide(Type type, const Source& a, const Source& b) const {
  const std::string mnemonic = typed("mul.wide", type);
  check(mnemonic, type, a);
  check(mnemonic, type, b);
  return result(mnemonic, bits(2 * bit_width(type)), {a, b});
}

Reg Emitter::mad(Type type, const Source& a, const Source& b, const Source& c) const {
  return alike(typed("mad.lo", type), type, {a, b, c});
}

Reg Emitter::add(Rounding rounding, Type type, const Source& a, const Source& b) const {
  return alike(rounded("add", rounding, type), type, {a, b});
}

Reg Emitter::mul(Rounding rounding, Type type, const Source& a, const Source& b) const {
  return alike(rounded("mul", rounding, type), type, {a, b});
}

Reg Emitter::fma(Rounding rounding, Type type, const Source& a, const Source& b,
                 const Source& c) const {
  return alike(rounded("fma", rounding, type), type, {a, b, c});
}

Reg Emitter::cvt(Type to, Type from, const Source& a) const {
  const std::string mnemonic = typed(typed("cvt", to), from);
  check(mnemonic, from, a, true);
  return result(mnemonic, to, {a}, true);
}

Reg Emitter::cvt(Rounding rounding, Type to, Type from, const Source& a) const {
  const std::string mnemonic = typed(rounded("cvt", rounding, to), from);
  check(mnemonic, from, a, true);
  return result(mnemonic, to, {a}, true);
}

Reg Emitter::cvta_to(Space space, Type type, const Source& a) const {
  return unary(fmt::format("cvta.to.{}", ptx::name(space)), type, a);
}

void Emitter::unpack(Type type, const Reg& low, const Reg& high, const Source& a) const {
  const std::string mnemonic = typed("mov", type);
  check(mnemonic, type, a);
  emit(mnemonic, fmt::format("{}, {}", halves(mnemonic, type, low, high), a.text()));
}

Reg Emitter::pack(Type type, const Reg& low, const Reg& high) const {
  const std::string mnemonic = typed("mov", type);
  return result(mnemonic, type, {Source::address(halves(mnemonic, type, low, high))});
}

// --- Predicates ---------------------------------------------------------------------------------

Reg Emitter::setp(Compare compare, Type type, const Source& a, const Source& b) const {
  return setp(compare, type, a, b, BoolOp::none, {});
}

Reg Emitter::setp(Compare compare, Type type, const Source& a, const Source& b, BoolOp join,
                  const Predicate& with) const {
  const std::string_view joined = with.empty() ? "" : name(join);
  const std::string mnemonic =
      typed(fmt::format("setp.{}{}{}", name(compare), joined.empty() ? "" : ".", joined), type);
  check(mnemonic, type, a);
  check(mnemonic, type, b);
  if (with.empty()) return result(mnemonic, Type::pred, {a, b});
  check(mnemonic, Type::pred, with.reg);
  return result(mnemonic, Type::pred, {a, b, Source::address(with.text())});
}

Reg Emitter::selp(Type type, const Source& a, const Source& b, const Predicate& condition) const {
  const std::string mnemonic = typed("selp", type);
  check(mnemonic, type, a);
  check(mnemonic, type, b);
  check(mnemonic, Type::pred, condition.reg);
  return result(mnemonic, type, {a, b, Source::address(condition.text())});
}

Reg Emitter::isspacep(Space space, const Source& address) const {
  const std::string mnemonic = fmt::format("isspacep.{}", ptx::name(space));
  check(mnemonic, Memory(Reg{address.type(), address.text()}));
  return result(mnemonic, Type::pred, {address});
}

// --- The warp -----------------------------------------------------------------------------------

Reg Emitter::activemask() const {
  return result("activemask.b32", Type::b32, {});
}

Reg Emitter::shfl(Sub mode, const Source& a, const Source& by, unsigned clamp,
                  const Source& mask) const {
  return alike(fmt::format("shfl.sync.{}.b32", name(mode)), Type::b32, {a, by, clamp, mask});
}

Reg Emitter::bar_red_or(const Predicate& a) const {
  check("bar.red.or.pred", Type::pred, a.reg);
  return result("bar.red.or.pred", Type::pred, {Source::address("0"), Source::address(a.text())});
}

Reg Emitter::redux(Op op, Type type, const Source& a, const Source& mask) const {
  return alike(typed(fmt::format("redux.sync.{}", ptx::name(op)), type), type, {a, mask});
}

// --- Memory -------------------------------------------------------------------------------------

Reg Emitter::ld(Space space, Type type, const Memory& from) const {
  const std::string mnemonic = typed(fmt::format("ld.{}", ptx::name(space)), type);
  check(mnemonic, from);
  return result(mnemonic, type, {Source::address(from.text())}, true);
}

void Emitter::ld(Space space, Type type, std::span<const Reg> into, const Memory& from) const {
  const std::string mnemonic = vector("ld", space, type, into);
  check(mnemonic, from);
  emit(mnemonic, fmt::format("{}, {}", list(into), from.text()));
}

void Emitter::st(Space space, Type type, const Memory& to, const Source& value) const {
  const std::string mnemonic = typed(fmt::format("st.{}", ptx::name(space)), type);
  check(mnemonic, to);
  check(mnemonic, type, value, true);
  emit(mnemonic, fmt::format("{}, {}", to.text(), value.text()));
}

void Emitter::st(Space space, Type type, const Memory& to, std::span<const Reg> values) const {
  const std::string mnemonic = vector("st", space, type, values);
  check(mnemonic, to);
  emit(mnemonic, fmt::format("{}, {}", to.text(), list(values)));
}

// --- Lines --------------------------------------------------------------------------------------

std::string Code::in_place() {
  constexpr std::string_view broken = "\n\t";
  if (all.starts_with(broken)) all.erase(0, broken.size());
  return behind();
}

} // namespace ptxasw::ptx
