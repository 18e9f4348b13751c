// A program for a small machine with two registers, an address and a line; each special opcode
// moves both and makes a row.
#include "sass/line_table.hpp"

#include "sass/bytes.hpp"

#include <algorithm>
#include <array>
#include <elf.h>

namespace ptxasw::sass {
namespace {

enum Standard : std::uint8_t {
  extended = 0,
  copy = 1,
  advance_pc = 2,
  advance_line = 3,
  const_add_pc = 8,
  fixed_advance_pc = 9,
};
enum Extended : std::uint8_t { end_sequence = 1, set_address = 2 };

class Reader {
public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t at() const { return at_; }
  void go(std::uint64_t to) { at_ = to; }

  template <class T> T number() {
    const T value = read<T>(bytes_, at_).value_or(T{});
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t unsigned_leb() { return leb().value; }
  std::int64_t signed_leb() {
    const auto [value, shift, negative] = leb();
    const bool extend = negative && shift < 64;
    return static_cast<std::int64_t>(extend ? value | ~std::uint64_t{0} << shift : value);
  }

private:
  struct Leb {
    std::uint64_t value = 0;
    unsigned shift = 0;
    bool negative = false;
  };
  Leb leb() {
    Leb result;
    for (bool more = true; more && at_ < bytes_.size();) {
      const auto byte = number<std::uint8_t>();
      if (result.shift < 64) result.value |= std::uint64_t{byte & 127U} << result.shift;
      result.shift += 7;
      result.negative = (byte & 64U) != 0;
      more = (byte & 128U) != 0;
    }
    return result;
  }

  std::string_view bytes_;
  std::uint64_t at_ = 0;
};

using Rows = std::map<std::string, std::vector<LineRow>, std::less<>>;
using Names = std::map<std::uint64_t, std::string_view>; // of functions, by where they are named

Names relocations(const Cubin& cubin) {
  Names names;
  const auto collect = [&](const char* section, std::size_t size) {
    const Section* s = cubin.find(section);
    for (std::uint64_t at = 0; s != nullptr && at + size <= s->bytes.size(); at += size) {
      const auto entry = *read<Elf64_Rel>(s->bytes, at);
      names.emplace(entry.r_offset, cubin.function_of(ELF64_R_SYM(entry.r_info)));
    }
  };
  collect(".rela.nv_debug_line_sass", sizeof(Elf64_Rela));
  collect(".rel.nv_debug_line_sass", sizeof(Elf64_Rel));
  return names;
}

// One unit of the table; false if it cannot be read.
class Unit {
public:
  Unit(std::string_view bytes, std::uint64_t at, const Names& names, Rows& rows)
      : in_(bytes), names_(names), rows_(rows) {
    in_.go(at);
    end_ = in_.number<std::uint32_t>();
    end_ += in_.at();
    if (end_ > bytes.size() || in_.number<std::uint16_t>() != 2) return;
    const auto program = in_.number<std::uint32_t>();
    begin_ = in_.at() + program;
    step_ = in_.number<std::uint8_t>();
    in_.number<std::uint8_t>();                               // default_is_stmt
    line_base_ = static_cast<int>(in_.number<std::int8_t>()); // NOLINT(bugprone-signed-char-misuse)
    line_range_ = in_.number<std::uint8_t>();
    first_special_ = in_.number<std::uint8_t>();
    for (unsigned op = 1; op < first_special_; ++op)
      operands_.at(op) = in_.number<std::uint8_t>();
    valid_ = line_range_ != 0 && begin_ <= end_;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::uint64_t end() const { return end_; }

  void run() {
    in_.go(begin_);
    while (in_.at() < end_) {
      const unsigned op = in_.number<std::uint8_t>();
      if (op >= first_special_) {
        advance(op);
        line_ += line_base_ + static_cast<int>((op - first_special_) % line_range_);
        row();
      } else {
        standard(op);
      }
    }
  }

private:
  void advance(unsigned op) { address_ += step_ * ((op - first_special_) / line_range_); }
  void row() {
    const auto line = static_cast<std::uint32_t>(std::max<std::int64_t>(line_, 0));
    rows_[std::string(function_)].push_back({address_, line});
  }

  void standard(unsigned op) {
    switch (op) {
    case extended: special(); break;
    case copy: row(); break;
    case advance_pc: address_ += step_ * in_.unsigned_leb(); break;
    case advance_line: line_ += in_.signed_leb(); break;
    case const_add_pc: advance(255); break;
    case fixed_advance_pc: address_ += in_.number<std::uint16_t>(); break;
    default:
      for (unsigned n = 0; n < operands_.at(op); ++n)
        in_.unsigned_leb();
    }
  }

  void special() {
    const std::uint64_t size = in_.unsigned_leb(), next = in_.at() + size;
    if (size == 0 || next > end_) {
      in_.go(end_);
      return;
    }
    switch (in_.number<std::uint8_t>()) {
    case end_sequence:
      address_ = 0;
      line_ = 1;
      function_ = {};
      break;
    case set_address: {
      const auto name = names_.find(in_.at());
      function_ = name == names_.end() ? std::string_view{} : name->second;
      address_ = in_.number<std::uint64_t>();
      break;
    }
    default: break;
    }
    in_.go(next);
  }

  Reader in_;
  const Names& names_;
  Rows& rows_;
  bool valid_ = false;
  std::uint64_t begin_ = 0, end_ = 0;
  unsigned step_ = 1, line_range_ = 0, first_special_ = 0;
  int line_base_ = 0;
  std::array<std::uint8_t, 256> operands_{};
  std::uint64_t address_ = 0;
  std::int64_t line_ = 1;
  std::string_view function_;
};

} // namespace

Rows line_rows(const Cubin& cubin) {
  Rows rows;
  const Section* table = cubin.find(".nv_debug_line_sass");
  if (table == nullptr) return rows;
  const Names names = relocations(cubin);
  for (std::uint64_t at = 0; at + sizeof(std::uint32_t) <= table->bytes.size();) {
    Unit unit(table->bytes, at, names, rows);
    if (!unit.valid()) break;
    unit.run();
    at = unit.end();
  }
  rows.erase("");
  for (auto& [name, of_function] : rows)
    std::ranges::stable_sort(of_function, {}, &LineRow::address);
  return rows;
}

} // namespace ptxasw::sass
