// Instructions under construction: what a pass emits, and a check of each as it is written.
//
// A method for each instruction, with PTX's name and PTX's order of types and sources:
//
//     const Reg n = code.mad(u32, block, size, thread);       mad.lo.u32   n, block, size, thread;
//     const Reg out = code.setp(ge, u32, n, count, or_, far); setp.ge.or.u32 out, n, count, far;
//     code.when(out).bra(rest);                               @out bra     rest;
//     code.into(n).add(u32, n, 1);                            add.u32      n, n, 1;
//
// The result is a fresh register unless into() names one. Operands know their type. One that does
// not fit its instruction is a mistake of the pass: WrongOperand is thrown, and whoever asked for
// the kernel leaves it alone.
//
// C++ does not say which argument of a call is computed first: at most one of them may emit.
#pragma once

#include "ptx/isa.hpp"
#include "ptx/module.hpp"
#include "ptx/parse.hpp"

#include <compare>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::ptx {

struct WrongOperand : std::logic_error {
  using std::logic_error::logic_error;
};

// A register as instructions name it. No name: no register.
struct Reg {
  Type type = Type::none;
  std::string name;

  [[nodiscard]] bool empty() const { return name.empty(); }
  friend auto operator<=>(const Reg&, const Reg&) = default;
};

// What a register is declared as that holds such a value: f32, f64, pred, or bits, 16 at least.
Type register_type(Type type);
Type bits(unsigned width);             // 1: pred; b8 to b128
Type unsigned_integer(unsigned width); // u8 to u64
Type signed_integer(unsigned width);   // s8 to s64

// Registers of one function that no part of the module's text uses.
class FreshRegisters {
public:
  // Two that hand out registers of one function need different stems.
  explicit FreshRegisters(const Module& module, std::string_view stem = "%ptxasw");
  // With names of a few letters, for a function that is written anew and may have thousands.
  static FreshRegisters brief(const Module& module);

  Reg make(Type type); // what it holds
  // Lines such as "\t.reg .b32 %ptxasw_b32_<4>;\n"; empty if none was made.
  [[nodiscard]] std::string declarations() const;
  // The same as an edit, for behind a brace.
  [[nodiscard]] Edit declared_at(std::uint32_t offset) const;

private:
  struct Pool {
    Type type = Type::none;
    unsigned count = 0;
  };
  [[nodiscard]] std::string stem_of(Type type) const;

  std::string prefix_;
  bool is_brief_ = false;
  std::vector<Pool> pools_; // ptxas allocates registers, so nothing is ever handed back
};

std::string list(std::span<const Reg> registers); // {a, b}

// "$ptxasw_", or longer, so that no label of the module begins so.
std::string label_prefix(const Module& module);

// The predicate under which something is done. Empty: always.
struct Predicate {
  Predicate() = default;
  Predicate(Reg of, bool is_negated = false) : reg(std::move(of)), negated(is_negated) {}

  [[nodiscard]] bool empty() const { return reg.empty(); }
  [[nodiscard]] std::string text() const { return (negated ? "!" : "") + reg.name; }

  Reg reg;
  bool negated = false;
};

// What an instruction reads.
class Source {
public:
  Source() = default;
  Source(const Reg& reg) : type_(reg.type), text_(reg.name) {}
  Source(Special special);
  template <std::integral Number> Source(Number number) : text_(std::to_string(number)) {}
  // The address of a variable.
  static Source address(std::string_view variable) { return {Type::none, std::string(variable)}; }
  static Source hex(std::int64_t number);
  static Source f32(float number);
  // As it is written elsewhere.
  static Source literal(Type type, std::string_view text) { return {type, std::string(text)}; }

  [[nodiscard]] Type type() const { return type_; } // none: a number, which fits integers
  [[nodiscard]] const std::string& text() const { return text_; }

private:
  Source(Type type, std::string text) : type_(type), text_(std::move(text)) {}

  Type type_ = Type::none;
  std::string text_;
};

// [base] or [base+offset]
class Memory {
public:
  Memory(const Reg& base) : base_(base), text_(base.name) {}
  Memory(std::string_view variable) : text_(variable) {}
  template <class Base> Memory(const Base& base, std::int64_t offset) : Memory(base) {
    text_ += '+' + std::to_string(offset);
  }

  [[nodiscard]] const Reg& base() const { return base_; } // empty: a variable
  [[nodiscard]] std::string text() const { return '[' + text_ + ']'; }

private:
  Reg base_;
  std::string text_;
};

// One instruction, of which the predicate and the destination may have been named already.
class Emitter {
public:
  [[nodiscard]] Emitter when(Predicate predicate) const;
  [[nodiscard]] Emitter unless(Predicate predicate) const;
  [[nodiscard]] Emitter into(Reg result) const;

  [[nodiscard]] Reg make(Type type) const { return registers_.make(type); }

  // --- Arithmetic: `Type` is that of the sources and, if not said otherwise, of the result ---
  Reg mov(Type type, const Source& a) const { return unary("mov", type, a); }
  void move(const Reg& to, const Reg& from) const; // all bits
  Reg special(Special which) const;                // mov.u32 of %tid.x and the like
  Reg not_(Type type, const Source& a) const { return unary("not", type, a); }
  Reg add(Type type, const Source& a, const Source& b) const { return op(Op::add, type, a, b); }
  Reg sub(Type type, const Source& a, const Source& b) const { return op(Op::sub, type, a, b); }
  Reg div(Type type, const Source& a, const Source& b) const { return op(Op::div, type, a, b); }
  Reg rem(Type type, const Source& a, const Source& b) const { return op(Op::rem, type, a, b); }
  Reg min(Type type, const Source& a, const Source& b) const { return op(Op::min, type, a, b); }
  Reg and_(Type type, const Source& a, const Source& b) const { return op(Op::and_, type, a, b); }
  Reg or_(Type type, const Source& a, const Source& b) const { return op(Op::or_, type, a, b); }
  Reg xor_(Type type, const Source& a, const Source& b) const { return op(Op::xor_, type, a, b); }
  // The instructions above by name.
  Reg op(Op op, Type type, const Source& a, const Source& b) const;
  Reg shl(Type type, const Source& a, const Source& count) const;
  Reg shr(Type type, const Source& a, const Source& count) const;
  // The lower half of the product, its upper half, and all of it.
  Reg mul(Type type, const Source& a, const Source& b) const;
  Reg mul_hi(Type type, const Source& a, const Source& b) const;
  Reg mul_wide(Type type, const Source& a, const Source& b) const;
  Reg mad(Type type, const Source& a, const Source& b, const Source& c) const; // a * b + c
  Reg add(Rounding rounding, Type type, const Source& a, const Source& b) const;
  Reg mul(Rounding rounding, Type type, const Source& a, const Source& b) const;
  Reg fma(Rounding rounding, Type type, const Source& a, const Source& b, const Source& c) const;
  Reg cvt(Type to, Type from, const Source& a) const;
  Reg cvt(Rounding rounding, Type to, Type from, const Source& a) const;
  Reg cvta_to(Space space, Type type, const Source& a) const;
  // Halves of a register, and a register of halves.
  void unpack(Type type, const Reg& low, const Reg& high, const Source& a) const;
  Reg pack(Type type, const Reg& low, const Reg& high) const;

  // --- Predicates ---
  Reg setp(Compare compare, Type type, const Source& a, const Source& b) const;
  // Joined with another one; an empty one does not count.
  Reg setp(Compare compare, Type type, const Source& a, const Source& b, BoolOp join,
           const Predicate& with) const;
  Reg selp(Type type, const Source& a, const Source& b, const Predicate& condition) const;
  Reg isspacep(Space space, const Source& address) const;

  // --- The warp ---
  Reg activemask() const;
  Reg shfl(Sub mode, const Source& a, const Source& by, unsigned clamp,
           const Source& mask) const; // shfl.sync
  // Whether the predicate holds in some thread of the block: behind a barrier.
  Reg bar_red_or(const Predicate& a) const;
  Reg redux(Op op, Type type, const Source& a, const Source& mask) const;

  // --- Memory: registers may be wider than what they load or store ---
  Reg ld(Space space, Type type, const Memory& from) const;
  void ld(Space space, Type type, std::span<const Reg> into, const Memory& from) const; // .v2, .v4
  void st(Space space, Type type, const Memory& to, const Source& value) const;
  void st(Space space, Type type, const Memory& to, std::span<const Reg> values) const;

  // --- Control ---
  void bra(std::string_view label) const { emit("bra", label); }
  void bra_uni(std::string_view label) const { emit("bra.uni", label); }
  void bar_sync() const { emit("bar.sync", "0"); }
  void ret() const { emit("ret", ""); }
  void trap() const { emit("trap", ""); }
  void griddepcontrol_wait() const { emit("griddepcontrol.wait", ""); }

  // A statement of the kernel's own, or anything else with its terminator.
  void statement(std::string_view text) const;

protected:
  Emitter(FreshRegisters& registers, std::string& text) : registers_(registers), text_(text) {}
  void emit(std::string_view mnemonic, std::string_view operands) const;

private:
  using Sources = std::initializer_list<Source>;
  Reg unary(std::string_view name, Type type, const Source& a) const;
  Reg shift(std::string_view name, Type type, const Source& a, const Source& count) const;
  // All of one type; only the result's type is asked for.
  Reg alike(std::string_view mnemonic, Type type, Sources sources) const;
  Reg result(std::string_view mnemonic, Type type, Sources sources,
             bool may_be_wider = false) const;

  FreshRegisters& registers_;
  std::string& text_;
  Predicate predicate_;
  Reg into_;
};

// Lines one after another; each begins by breaking the one before it.
class Code : public Emitter {
public:
  explicit Code(FreshRegisters& registers) : Emitter(registers, all) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  void label(std::string_view name) { all.append("\n").append(name).append(":"); }
  void comment(std::string_view words) { all.append("\n\t// ").append(words); }

  // What has been written, for the place of an instruction, whose own line is broken already, or
  // for behind one. Nothing is left.
  [[nodiscard]] std::string in_place();
  [[nodiscard]] std::string behind() { return std::exchange(all, {}); }

  std::string all;
};

// The words that instructions are written with: code.setp(lt, u32, a, b).
namespace words {
using BoolOp::and_, BoolOp::or_;
using Compare::eq, Compare::ge, Compare::geu, Compare::gt, Compare::le, Compare::lt, Compare::ne;
using Type::b16, Type::b32, Type::b64, Type::f32, Type::pred;
using Type::s32, Type::s64, Type::u16, Type::u32, Type::u64;
} // namespace words

} // namespace ptxasw::ptx
