// A table of opcodes, then the operands and their signs by where they stand.
#include "sass/instruction.hpp"

#include "sass/bytes.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::sass {
namespace {

using In = Operand::In;

constexpr unsigned zero_register = 255, always = 7;
constexpr std::uint64_t one_f32 = 0x3f800000;
constexpr std::uint64_t ones_f16 = 0x3c003c00, ones_bf16 = 0x3f803f80;

struct Arithmetic {
  unsigned opcode; // bits 0 to 8
  Operation operation;
  Format format;
  unsigned since = 75, before = 1000; // architectures
};
constexpr std::array arithmetics{
    Arithmetic{0x020, Operation::mul, Format::f32},
    Arithmetic{0x021, Operation::add, Format::f32},
    Arithmetic{0x023, Operation::fma, Format::f32},
    Arithmetic{0x028, Operation::mul, Format::f64},
    Arithmetic{0x029, Operation::add, Format::f64},
    Arithmetic{0x02b, Operation::fma, Format::f64},
    Arithmetic{0x030, Operation::add, Format::half},
    Arithmetic{0x031, Operation::fma, Format::half},
    Arithmetic{0x032, Operation::mul, Format::half},
    Arithmetic{0x035, Operation::fma, Format::half, 75, 100}, // integers since
    Arithmetic{0x049, Operation::fma, Format::f32x2, 100},
    Arithmetic{0x04a, Operation::mul, Format::f32x2, 100},
    Arithmetic{0x04b, Operation::add, Format::f32x2, 100},
    Arithmetic{0x054, Operation::add, Format::f32, 100}, // on uniform registers
    Arithmetic{0x055, Operation::fma, Format::f32, 100},
    Arithmetic{0x056, Operation::mul, Format::f32, 100},
};

// What neither rounds nor is arithmetic on floating-point numbers.
struct Other {
  unsigned opcode;
  enum class Writes : std::uint8_t { nothing, one, sized, wide, converted } writes;
};
using Writes = Other::Writes;
constexpr std::array others{
    Other{0x003, Writes::one},     // P2R
    Other{0x004, Writes::nothing}, // R2P
    Other{0x005, Writes::wide},    // CS2R
    Other{0x006, Writes::one},     // VOTE
    Other{0x007, Writes::one},     // SEL
    Other{0x008, Writes::one},     // FSEL
    Other{0x009, Writes::one},     // FMNMX
    Other{0x00a, Writes::one},     // FSET
    Other{0x00b, Writes::nothing}, // FSETP
    Other{0x00c, Writes::nothing}, // ISETP
    Other{0x010, Writes::one},     // IADD3
    Other{0x011, Writes::one},     // LEA
    Other{0x012, Writes::one},     // LOP3
    Other{0x013, Writes::one},     // IABS
    Other{0x016, Writes::one},     // PRMT
    Other{0x017, Writes::one},     // IMNMX
    Other{0x019, Writes::one},     // SHF
    Other{0x01b, Writes::one},     // BMSK
    Other{0x01c, Writes::nothing}, // PLOP3
    Other{0x024, Writes::one},     // IMAD
    Other{0x025, Writes::wide},    // IMAD.WIDE
    Other{0x026, Writes::one},     // IDP
    Other{0x027, Writes::wide},    // IMAD.HI
    Other{0x02a, Writes::nothing}, // DSETP
    Other{0x02e, Writes::nothing}, // ACQBULK: griddepcontrol.wait
    Other{0x033, Writes::one},     // HSET2
    Other{0x034, Writes::nothing}, // HSETP2
    Other{0x035, Writes::one},     // an integer sum, where it is no HFMA2
    Other{0x036, Writes::one},     // VIADD
    Other{0x03e, Writes::one},     // F2FP
    Other{0x040, Writes::one},     // HMNMX2
    Other{0x045, Writes::one},     // VIADDMNMX and its kin
    Other{0x046, Writes::one},       Other{0x048, Writes::one}, // VIMNMX
    Other{0x05a, Writes::nothing}, // uniform comparisons, selections and minima
    Other{0x05e, Writes::one},       Other{0x080, Writes::one}, // the uniform integer operations
    Other{0x083, Writes::one},                                  // UP2UR
    Other{0x086, Writes::one},       Other{0x087, Writes::one},
    Other{0x088, Writes::one},       Other{0x08c, Writes::nothing},
    Other{0x08f, Writes::one},       Other{0x090, Writes::one},
    Other{0x091, Writes::one},       Other{0x092, Writes::one},
    Other{0x096, Writes::one},       Other{0x097, Writes::wide},
    Other{0x099, Writes::one},       Other{0x09b, Writes::one},
    Other{0x09c, Writes::nothing},   Other{0x0a4, Writes::one},
    Other{0x0a5, Writes::wide},      Other{0x0a7, Writes::wide},
    Other{0x0bd, Writes::one},       Other{0x0bf, Writes::one},
    Other{0x0ca, Writes::one},       Other{0x100, Writes::one}, // FLO
    Other{0x101, Writes::one},                                  // BREV
    Other{0x102, Writes::nothing},                              // FCHK
    Other{0x104, Writes::one},                                  // F2F
    Other{0x105, Writes::one},                                  // F2I
    Other{0x106, Writes::one},                                  // I2F
    Other{0x107, Writes::one},                                  // FRND
    Other{0x109, Writes::one},                                  // POPC
    Other{0x110, Writes::converted},                            // F2F, F2I, I2F, FRND of 64 bits
    Other{0x111, Writes::converted}, Other{0x112, Writes::converted},
    Other{0x113, Writes::converted}, Other{0x118, Writes::nothing}, // NOP
    Other{0x119, Writes::one},                                      // S2R
    Other{0x11b, Writes::nothing},                                  // ENDCOLLECTIVE
    Other{0x11c, Writes::one},                                      // B2R: of a barrier.red
    Other{0x11d, Writes::nothing},                                  // BAR
    Other{0x141, Writes::nothing},                                  // BSYNC
    Other{0x142, Writes::nothing},                                  // BREAK
    Other{0x145, Writes::nothing},                                  // BSSY
    Other{0x146, Writes::nothing},                                  // YIELD
    Other{0x148, Writes::nothing},                                  // WARPSYNC
    Other{0x155, Writes::nothing},                                  // BMOV
    Other{0x180, Writes::sized},                                    // LD
    Other{0x181, Writes::sized},                                    // LDG
    Other{0x182, Writes::sized},   // LDC, of an address that is computed
    Other{0x183, Writes::sized},   // LDL
    Other{0x184, Writes::sized},   // LDS
    Other{0x185, Writes::nothing}, // ST
    Other{0x186, Writes::nothing}, // STG
    Other{0x187, Writes::nothing}, // STL
    Other{0x188, Writes::nothing}, // STS
    Other{0x189, Writes::one},     // SHFL
    Other{0x18c, Writes::sized},   // ATOMS
    Other{0x18d, Writes::sized},     Other{0x18e, Writes::nothing}, // RED
    Other{0x18f, Writes::nothing},                                  // CCTL
    Other{0x192, Writes::nothing},                                  // MEMBAR
    Other{0x1a6, Writes::nothing},   Other{0x1a8, Writes::sized},   // ATOMG
    Other{0x1a9, Writes::sized},     Other{0x1ab, Writes::nothing}, // ERRBAR
    Other{0x1ae, Writes::nothing},                                  // LDGSTS
    Other{0x1af, Writes::nothing},                                  // LDGDEPBAR, DEPBAR
    Other{0x1c2, Writes::one},                                      // R2UR
    Other{0x1c3, Writes::one},                                      // S2UR
};

enum Opcode : unsigned {
  op_mov = 0x002,
  op_imad = 0x024,
  op_umov = 0x082,
  op_uimad = 0x0a4,
  op_uldc = 0x0b9,
  op_mufu = 0x108,
  op_call = 0x144,
  op_branch = 0x147,
  op_exit = 0x14d,
  op_return = 0x150,
  op_ldc = 0x182,
  op_ldcu = 0x1ac,
  op_plop3 = 0x01c,
  op_uplop3 = 0x09c,
  op_first_control = 0x141, // BSYNC; the last is op_return
  op_first_memory = 0x180,  // LD
  op_last_memory = 0x1ae,   // LDGSTS
};

class Decoder {
public:
  Decoder(std::uint64_t low, std::uint64_t high, unsigned architecture)
      : low_(low), high_(high), architecture_(architecture), opcode_(bits(low, 0, 9)),
        form_(bits(low, 9, 3)) {
    out_.opcode = bits(low, 0, 12);
    out_.guard = bits(low, 12, 4);
    out_.guarded = out_.guard != always;
    out_.schedule = {.stall = bits(high, 41, 4),
                     .write_barrier = bits(high, 46, 3),
                     .read_barrier = bits(high, 49, 3),
                     .wait = bits(high, 52, 6),
                     .reuse = bits(high, 58, 4)};
    out_.shape = shape();
  }

  Instruction run() {
    if (architecture_ == 0) {
      out_.operation = Operation::unknown;
    } else if (!control() && !load_of_constant() && !plain_move() && !arithmetic() && !other()) {
      out_.operation = Operation::unknown;
    }
    return out_;
  }

private:
  static unsigned bits(std::uint64_t word, unsigned first, unsigned count) {
    return static_cast<unsigned>(word >> first) & ((1U << count) - 1);
  }
  [[nodiscard]] bool low_bit(unsigned n) const { return (low_ >> n & 1) != 0; }
  [[nodiscard]] bool high_bit(unsigned n) const { return (high_ >> (n - 64) & 1) != 0; }

  [[nodiscard]] Shape shape() const {
    const auto ones = [](unsigned first, unsigned count) {
      return ((std::uint64_t{1} << count) - 1) << first;
    };
    const std::uint64_t guard = (low_ & 1U << 15) | std::uint64_t{out_.guarded} << 12;
    if (opcode_ >= op_first_control && opcode_ <= op_return) return {out_.opcode | guard, 0};
    std::uint64_t low = low_ & ~ones(12, 20),
                  high = high_ & ~(ones(0, 8) | ones(17, 9)) & ones(0, 41);
    const bool is_memory = opcode_ >= op_first_memory && opcode_ <= op_last_memory;
    if (form_ <= 1 || form_ >= 6 || is_memory) low &= ~ones(32, 8);
    if (opcode_ == op_plop3 || opcode_ == op_uplop3) high &= ~ones(4, 12);
    return {low | guard, high};
  }

  // Instructions on the uniform datapath, whose registers are numbered by themselves.
  [[nodiscard]] bool uniform() const {
    return (opcode_ >= 0x080 && opcode_ <= 0x0bf) || opcode_ == 0x0ca || opcode_ == 0x1c2 ||
           opcode_ == 0x1c3 || opcode_ == op_ldcu ||
           (opcode_ >= 0x054 && opcode_ <= 0x05f && architecture_ >= 100);
  }
  void write(unsigned count) {
    const unsigned reg = bits(low_, 16, 8);
    const unsigned zero = uniform() && architecture_ < 100 ? 63 : zero_register;
    if (reg != zero && reg != zero_register) out_.result = {reg, count, uniform()};
  }

  [[nodiscard]] static Operand plain(unsigned reg) {
    return {.in = reg == zero_register ? In::zero : In::reg, .reg = reg};
  }
  [[nodiscard]] Operand register_a() const { return plain(bits(low_, 24, 8)); }
  [[nodiscard]] Operand register_c() const { return plain(bits(high_, 0, 8)); }
  // What stands at bit 32.
  [[nodiscard]] Operand middle() const {
    switch (form_) {
    case 2:
    case 4: return {.in = In::immediate, .value = low_ >> 32};
    case 3:
    case 5: return {.in = In::constant, .value = low_ >> 38 & 0x1fffff};
    case 6:
    case 7: return {.in = In::uniform, .reg = bits(low_, 32, 8)};
    default: return plain(bits(low_, 32, 8));
    }
  }
  [[nodiscard]] bool swapped() const { return form_ == 2 || form_ == 3 || form_ == 7; }

  [[nodiscard]] unsigned loaded_registers() const {
    switch (bits(high_, 9, 3)) {
    case 5: return 2;
    case 6: return 4;
    case 7: return 8;
    default: return 1;
    }
  }

  // A signed number of 50 bits from bit 32 on: of bytes, or since sm_90, without its last two bits,
  // of 256 words, with the words themselves in bits 16 to 23.
  [[nodiscard]] std::int64_t distance() const {
    const auto far = static_cast<std::int64_t>((low_ >> 32 | high_ << 32) << 14) >> 14;
    const std::int64_t bytes =
        architecture_ >= 90 ? (far >> 2) * 1024 + std::int64_t{bits(low_, 16, 8)} * 4 : far;
    return bytes / 16;
  }

  bool control() {
    Branch& branch = out_.branch;
    switch (opcode_) {
    case op_exit:
    case op_return: branch = {.leaves = !out_.guarded, .ends = true}; return true;
    case op_branch: {
      const bool condition = bits(high_, 23, 4) != always || bits(low_, 24, 8) != 0;
      branch = {.leaves = !out_.guarded && !condition, .jumps = true, .distance = distance()};
      return true;
    }
    case op_call:
      out_.operation = Operation::call;
      branch.distance = distance();
      return true;
    case 0x149:
    case 0x14a:
    case 0x14b:
    case 0x14c: branch.anywhere = true; return true; // BRX, JMP, JMX
    default: return false;
    }
  }

  bool load_of_constant() {
    const bool plain_ldc = opcode_ == op_ldc && bits(low_, 24, 8) == zero_register && form_ == 5;
    if (opcode_ != op_uldc && opcode_ != op_ldcu && !plain_ldc) return false;
    out_.a = {.in = In::constant, .value = low_ >> 38 & 0x1fffff};
    if (opcode_ == op_ldcu && bits(low_, 24, 8) != zero_register) out_.a.in = In::none;
    out_.operation = out_.a.in == In::none ? Operation::other : Operation::constant;
    write(loaded_registers());
    return true;
  }

  bool plain_move() {
    const bool imad = opcode_ == op_imad || opcode_ == op_uimad;
    if (opcode_ == op_mov || opcode_ == op_umov) {
      out_.b = middle();
    } else if (imad && bits(low_, 24, 8) == zero_register && other_factor().in == In::zero) {
      out_.b = swapped() ? middle() : register_c(); // 0 * 0 + c
    } else {
      return false;
    }
    if (uniform() && out_.b.in == In::reg) out_.b.in = In::uniform;
    out_.operation = Operation::move;
    write(1);
    return true;
  }
  [[nodiscard]] Operand other_factor() const { return swapped() ? register_c() : middle(); }

  bool arithmetic() {
    if (opcode_ == op_mufu) {
      out_.operation = Operation::function;
      out_.b = middle();
      out_.modifiers = bits(high_, 10, 6) << 4; // which function
      write(1);
      return true;
    }
    const auto* found = std::ranges::find_if(arithmetics, [&](const Arithmetic& candidate) {
      return candidate.opcode == opcode_ && architecture_ >= candidate.since &&
             architecture_ < candidate.before;
    });
    if (found == arithmetics.end()) return false;
    out_.operation = found->operation;
    out_.format = found->format;
    out_.a = register_a();
    out_.a.negated = high_bit(72);
    switch (found->operation) {
    case Operation::fma: fused(); break;
    case Operation::mul: product(); break;
    default: sum();
    }
    // saturation, rounding and flushing; a product's scale
    out_.modifiers = bits(high_, 13, 4);
    if (found->operation == Operation::mul && found->format == Format::f32)
      out_.modifiers |= bits(high_, 20, 3) << 4;
    if (found->format == Format::half) out_.modifiers |= bits(high_, 21, 1) << 8; // bf16
    write(found->format == Format::f64 || found->format == Format::f32x2 ? 2 : 1);
    if (uniform())
      for (Operand* operand : {&out_.a, &out_.b, &out_.c})
        if (operand->in == In::reg) operand->in = In::uniform;
    undisguise();
    return true;
  }

  void fused() {
    Operand at32 = middle(), at64 = register_c();
    if (at32.in != In::immediate) at32.negated = low_bit(63);
    at64.negated = high_bit(75);
    out_.b = swapped() ? at64 : at32;
    out_.c = swapped() ? at32 : at64;
    if (out_.format == Format::half) { // bit 84 is the addend's
      if (swapped()) {
        out_.b.negated = high_bit(84);
      } else {
        out_.c.negated = high_bit(84);
      }
    }
  }

  void signs_at_32(Operand& operand) const {
    if (operand.in == In::immediate) return;
    operand.negated = low_bit(63);
    operand.absolute = low_bit(62);
  }
  void product() {
    out_.a.absolute = high_bit(73);
    out_.b = middle();
    signs_at_32(out_.b);
  }
  void sum() {
    out_.a.absolute = high_bit(73);
    if (out_.format == Format::f64 && form_ == 1) { // the only one with its second operand at 64
      out_.b = register_c();
      out_.b.negated = high_bit(75);
      out_.b.absolute = high_bit(74);
    } else {
      out_.b = middle();
      signs_at_32(out_.b);
    }
  }

  void undisguise() {
    const bool half = out_.format == Format::half;
    if (out_.operation == Operation::fma && (half || out_.format == Format::f32)) {
      const std::uint64_t one = !half ? one_f32 : high_bit(85) ? ones_bf16 : ones_f16;
      if (out_.a.in == In::zero && out_.b.in == In::zero) {
        out_.operation = Operation::move;
        out_.b = out_.c;
      } else if (out_.c.in == In::zero && out_.c.negated) { // adding +0 is no product: -0 + 0 is 0
        out_.operation = Operation::mul;
      } else if (out_.b.in == In::immediate && out_.b.value == one) {
        out_.operation = Operation::add;
        out_.b = out_.c;
      }
      if (out_.operation != Operation::fma) out_.c = {};
    }
    if (out_.operation == Operation::add &&
        (out_.a.in == In::zero || out_.b.in == In::zero)) { // a sign, or a NaN made quiet
      out_.operation = Operation::move;
      if (out_.b.in == In::zero) out_.b = out_.a;
    }
    if (out_.operation == Operation::move) {
      out_.a = {};
      out_.format = Format::none;
    }
  }

  bool other() {
    const auto* found = std::ranges::find(others, opcode_, &Other::opcode);
    if (found == others.end()) return false;
    switch (found->writes) {
    case Writes::nothing: break;
    case Writes::one: write(1); break;
    case Writes::sized: write(loaded_registers()); break;
    case Writes::wide: write(opcode_ == 0x005 && !high_bit(80) ? 1 : 2); break;
    case Writes::converted: write(bits(high_, 11, 2) == 3 ? 2 : 1); break;
    }
    return true;
  }

  std::uint64_t low_, high_;
  unsigned architecture_, opcode_, form_;
  Instruction out_;
};

} // namespace

Instruction decode(std::uint64_t low, std::uint64_t high, unsigned architecture) {
  return Decoder(low, high, architecture).run();
}

std::vector<Instruction> decode(std::string_view code, unsigned architecture) {
  std::vector<Instruction> result;
  for (std::size_t at = 0;; at += sizeof(Shape)) {
    const auto words = read<Shape>(code, at);
    if (!words) return result;
    result.push_back(decode((*words)[0], (*words)[1], architecture));
  }
}

} // namespace ptxasw::sass
