// The shapes of ldmatrix and mma. The lanes of a warp meet as for a shuffle (warp_sync.cpp); what
// they bring is read from their registers when the last one is there.
#include "simt/matrix.hpp"

#include "semantics/windows.hpp"
#include "simt/engine.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace ptxasw::simt {

namespace {

using ptx::Op;
using ptx::Type;
using sem::Bits;

unsigned element_bits(Type type) {
  return type == Type::tf32 ? 32 : ptx::bit_width(type);
}

// How many registers the operands of an mma take; zeros if it is not known.
struct Registers {
  std::uint32_t a = 0, b = 0, c = 0;
};

Registers registers_of(const ptx::Modifiers& m) {
  using ptx::Shape;
  const bool integer =
      (m.type2 == Type::s8 || m.type2 == Type::u8) && (m.type3 == Type::s8 || m.type3 == Type::u8);
  const bool half = (m.type2 == Type::f16 || m.type2 == Type::bf16) && m.type2 == m.type3;
  const bool single = m.type2 == Type::tf32 && m.type3 == Type::tf32;
  bool fits = false;
  if (integer)
    fits = m.shape == Shape::m8n8k16 || m.shape == Shape::m16n8k16 || m.shape == Shape::m16n8k32;
  if (half) fits = m.shape == Shape::m16n8k8 || m.shape == Shape::m16n8k16;
  if (single) fits = m.shape == Shape::m16n8k4 || m.shape == Shape::m16n8k8;
  const Type sum = integer ? Type::s32 : Type::f32;
  const bool sums =
      m.type == m.type4 && (m.type == sum || (m.type == Type::f16 && m.type2 == m.type));
  if (!fits || !sums || (m.satfinite && !integer)) return {};
  const auto [rows, columns, depth] = dimensions(m.shape);
  const unsigned lanes_of_row = 4, part = element_bits(m.type2) * depth / 32 / lanes_of_row;
  return {rows / 8 * part, columns / 8 * part, rows / 8 * (m.type == Type::f16 ? 1U : 2U)};
}

bool plain_registers(const ptx::Body& body, std::span<const ptx::Arg> args) {
  return std::ranges::all_of(args, [&](const ptx::Arg& arg) {
    return arg.kind == ptx::Arg::Kind::reg && arg.selector.empty() &&
           ptx::bit_width(body.registers[arg.id].type) == 32;
  });
}

// Where an element lies: its lane, register, and first bit there.
struct At {
  unsigned lane = 0, index = 0, bit = 0;
};
// Element (row, column) of A; of B, with the two exchanged.
At place_in_fragment(unsigned row, unsigned column, unsigned rows, unsigned bits) {
  const unsigned each = 32 / bits, half = column / (4 * each), within = column % (4 * each);
  return {.lane = row % 8 * 4 + within / each,
          .index = half * (rows / 8) + row / 8,
          .bit = within % each * bits};
}
At place_in_sum(unsigned row, unsigned column, bool packed) {
  const unsigned lane = row % 8 * 4 + column / 2, second = column % 2;
  if (packed) return {lane, row / 8, 16 * second};
  return {lane, row / 8 * 2 + second, 0};
}

double number_of(Bits bits, Type type) {
  if (type == Type::tf32) { // the lower bits do not count
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffffe000U);
    return single;
  }
  const sem::Function widen{.fn = sem::Fn::fconvert, .to = Type::f64, .from = type};
  const std::array<Bits, 1> argument{bits};
  return std::bit_cast<double>(static_cast<std::uint64_t>(sem::compute(widen, 64, argument)));
}

std::uint32_t rounded(double value, Type type) {
  const sem::Function narrow{
      .fn = sem::Fn::fconvert, .to = type, .from = Type::f64, .rounding = ptx::Rounding::rn};
  const std::array<Bits, 1> argument{std::bit_cast<std::uint64_t>(value)};
  return static_cast<std::uint32_t>(sem::compute(narrow, ptx::bit_width(type), argument));
}

std::int64_t integer_of(Bits bits, Type type) {
  const auto byte = static_cast<std::uint8_t>(bits);
  return type == Type::s8 ? std::int64_t{static_cast<std::int8_t>(byte)} : std::int64_t{byte};
}

// The registers of all lanes, in the order of the operands, and the lanes where they are undefined.
class Fragments {
public:
  explicit Fragments(std::size_t registers) : values_(registers), undefined_(registers) {}

  void set(unsigned lane, std::size_t index, std::uint64_t value, bool undefined) {
    values_[index][lane] = static_cast<std::uint32_t>(value);
    if (undefined) undefined_[index] |= 1U << lane;
  }
  [[nodiscard]] Bits bits(const At& at, std::size_t first, unsigned width) const {
    const std::uint64_t word = values_[first + at.index][at.lane];
    return word >> at.bit & ((std::uint64_t{1} << width) - 1);
  }
  [[nodiscard]] bool undefined(const At& at, std::size_t first) const {
    return (undefined_[first + at.index] >> at.lane & 1) != 0;
  }
  void put(const At& at, unsigned width, std::uint32_t bits, bool undefined) {
    std::uint32_t& word = values_[at.index][at.lane];
    const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << width) - 1) << at.bit);
    word = (word & ~mask) | (bits << at.bit & mask);
    if (undefined) undefined_[at.index] |= 1U << at.lane;
  }

private:
  std::vector<std::array<std::uint32_t, warp_size>> values_;
  std::vector<std::uint32_t> undefined_;
};

// D = A * B + C.
Fragments product(const ptx::Modifiers& m, const Fragments& in) {
  const Registers count = registers_of(m);
  const auto [rows, columns, depth] = dimensions(m.shape);
  const unsigned width = element_bits(m.type2), sum_width = m.type == Type::f16 ? 16 : 32;
  const std::size_t first_b = count.a, first_c = first_b + count.b;
  Fragments out(count.c);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j) {
      const At at = place_in_sum(i, j, sum_width == 16);
      const Bits c = in.bits(at, first_c, sum_width);
      bool undefined = in.undefined(at, first_c);
      std::int64_t whole = static_cast<std::int32_t>(static_cast<std::uint32_t>(c));
      double real = 0;
      for (unsigned k = 0; k < depth; ++k) {
        const At a = place_in_fragment(i, k, rows, width);
        const At b = place_in_fragment(j, k, columns, width);
        undefined = undefined || in.undefined(a, 0) || in.undefined(b, first_b);
        const Bits x = in.bits(a, 0, width), y = in.bits(b, first_b, width);
        if (m.type == Type::s32)
          whole += integer_of(x, m.type2) * integer_of(y, m.type3);
        else
          real += number_of(x, m.type2) * number_of(y, m.type3);
      }
      std::uint32_t result = 0;
      if (m.type == Type::s32) {
        using Limits = std::numeric_limits<std::int32_t>;
        if (m.satfinite) whole = std::clamp<std::int64_t>(whole, Limits::min(), Limits::max());
        result = static_cast<std::uint32_t>(whole);
      } else {
        result = rounded(real + number_of(c, m.type), m.type);
      }
      out.put(at, sum_width, result, undefined);
    }
  return out;
}

} // namespace

MatrixShape dimensions(ptx::Shape shape) {
  switch (shape) {
  case ptx::Shape::m8n8k16: return {8, 8, 16};
  case ptx::Shape::m16n8k4: return {16, 8, 4};
  case ptx::Shape::m16n8k8: return {16, 8, 8};
  case ptx::Shape::m16n8k16: return {16, 8, 16};
  case ptx::Shape::m16n8k32: return {16, 8, 32};
  default: return {8, 8, 0};
  }
}

bool matrix_known(const ptx::Body& body, const ptx::Inst& inst) {
  const ptx::Modifiers& m = inst.mods;
  if (m.unread || !m.sync || !m.aligned || !plain_registers(body, body.dst(inst))) return false;
  if (inst.op == Op::ldmatrix) {
    const auto addresses = body.addr(inst);
    const bool reachable = addresses.size() == 1 &&
                           (addresses[0].base.kind == ptx::Arg::Kind::reg ||
                            addresses[0].base.kind == ptx::Arg::Kind::symbol) &&
                           (m.space == ptx::Space::shared || m.space == ptx::Space::generic);
    return m.shape == ptx::Shape::m8n8 && m.type == Type::b16 && m.type2 == Type::none &&
           m.matrices != 0 && inst.dst.count == m.matrices && inst.src.count == 0 && reachable;
  }
  if (inst.op != Op::mma || inst.addr.count != 0 || m.sub != ptx::Sub::none) return false;
  const Registers count = registers_of(m);
  return count.c != 0 && inst.dst.count == count.c &&
         inst.src.count == count.a + count.b + count.c && plain_registers(body, body.src(inst));
}

void Engine::matrix(Warp& warp, std::uint32_t id, const Ins& ins, std::uint32_t mask) {
  for_lanes(mask, [&](unsigned lane) {
    warp.letters[lane] = {};
    warp.letters[lane].waiting = true;
    warp.letters[lane].key = ins.sync_key;
    warp.letters[lane].members = ~0U;
  });
  warp.fragments[id].state = Fragment::State::warp_sync;
  deliver(warp);
  if (warp.fragments[id].state == Fragment::State::warp_sync) settle(warp, id);
}

// All lanes that are left have come to `ins`: does it, and writes their results.
void Engine::do_matrix(Warp& warp, const Ins& ins, std::uint32_t group) {
  if (group != ~0U)
    return fail(Result::Status::undefined, warp, group, ins, "not all lanes of the warp are there");
  if (ins.inst->op == Op::ldmatrix) return load_matrices(warp, ins);
  Fragments in(ins.src.count);
  for_each_lane_at(warp, ins, [&](Frame& frame, const Operands& operands, unsigned lane) {
    for (std::uint32_t i = 0; i < ins.src.count; ++i) {
      const OperandLocation& place = frame.code->places[ins.src.first + i];
      in.set(lane, i, operands.lane(place, lane), operands.is_undefined(place, lane));
    }
  });
  const Fragments out = product(ins.inst->mods, in);
  result_.approximate |= ins.inst->mods.type != Type::s32;
  for_each_lane_at(warp, ins, [&](Frame& frame, const Operands&, unsigned lane) {
    for (std::uint32_t i = 0; i < ins.dst.count; ++i) {
      const At at{lane, i, 0};
      write(frame, frame.code->places[ins.dst.first + i], lane,
            static_cast<std::uint64_t>(out.bits(at, 0, 32)), 0, out.undefined(at, 0));
    }
  });
}

// ldmatrix: lane 8 * i + j says where row j of matrix i is; each lane gets two elements of each.
void Engine::load_matrices(Warp& warp, const Ins& ins) {
  const ptx::Modifiers& m = ins.inst->mods;
  constexpr unsigned row_bytes = 16;
  const unsigned rows = 8U * m.matrices;
  const std::uint32_t readers = rows == warp_size ? ~0U : (1U << rows) - 1;
  std::array<std::array<std::uint8_t, row_bytes>, warp_size> data{}, defined{};
  for_each_lane_at(warp, ins, [&](Frame& frame, const Operands& operands, unsigned lane) {
    const std::uint32_t bit = 1U << lane;
    if (!result_.ok() || (readers & bit) == 0 || !addresses(warp, operands, ins, bit)) return;
    const auto bytes = reach(warp, frame, ins, ins.space, lane, addresses_[lane], row_bytes, false);
    if (!bytes) return;
    std::copy_n(bytes->data, row_bytes, data[lane].begin());
    std::copy_n(bytes->defined, row_bytes, defined[lane].begin());
  });
  if (!result_.ok()) return;
  observe(Access::Kind::load, warp, ins, readers, row_bytes);
  for_each_lane_at(warp, ins, [&](Frame& frame, const Operands&, unsigned lane) {
    for (std::uint32_t i = 0; i < m.matrices; ++i) {
      std::uint32_t word = 0;
      bool undefined = false;
      for (unsigned e = 0; e < 2; ++e) {
        const unsigned across = lane / 4, along = lane % 4 * 2 + e;
        const unsigned row = 8 * i + (m.trans ? along : across);
        const unsigned at = 2 * (m.trans ? across : along);
        word |= (data[row][at] | std::uint32_t{data[row][at + 1]} << 8) << 16 * e;
        undefined = undefined || defined[row][at] == 0 || defined[row][at + 1] == 0;
      }
      write(frame, frame.code->places[ins.dst.first + i], lane, word, 0, undefined);
    }
  });
}

} // namespace ptxasw::simt
