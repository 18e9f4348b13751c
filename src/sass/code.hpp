// The machine code of a function, with the line that each instruction comes from and where the
// values that it reads were made.
#pragma once

#include "sass/instruction.hpp"
#include "sass/line_table.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::sass {

using InstructionId = std::uint32_t;

struct Line {
  Instruction instruction;
  std::uint32_t line = 0; // of the PTX text; 0: not known
};

// One way in which a value may have been made: by an instruction that is no move, or outside the
// instructions.
struct Origin {
  enum class From : std::uint8_t { instruction, zero, immediate, constant, outside } from{};
  std::uint64_t value = 0; // instruction: its number; immediate, constant: as in the operand
  bool negated = false, absolute = false;
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

class Code {
public:
  // `rows` in order of addresses; none: no line is known.
  Code(std::string_view bytes, const std::vector<LineRow>& rows, unsigned architecture);

  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  // Why nothing can be said of what it computes: an instruction that is not known, or one that
  // jumps to places that are not known. Empty: everything is known.
  [[nodiscard]] const std::string& unknown() const { return unknown_; }

  // All origins of an operand of an instruction, along every path, through moves; sorted.
  [[nodiscard]] std::vector<Origin> origins(InstructionId at, const Operand& operand) const;

private:
  struct Block {
    InstructionId first = 0, end = 0;
    std::vector<std::uint32_t> before;
  };
  struct Search;
  void find_blocks();
  void find_writers();
  [[nodiscard]] InstructionId target(InstructionId n) const;
  struct Written {
    std::set<unsigned> may, must; // registers, uniform ones behind the others
  };
  [[nodiscard]] Written written_by_callee(InstructionId call, unsigned depth = 0) const;
  [[nodiscard]] std::set<unsigned> written_on_every_path(InstructionId begin,
                                                         InstructionId end) const;
  [[nodiscard]] const std::vector<InstructionId>& writers(bool uniform, unsigned reg) const;
  [[nodiscard]] bool surely_written(InstructionId by, unsigned reg, InstructionId until) const;

  std::string_view bytes_;
  std::vector<Line> lines_;
  std::string unknown_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> block_of_;
  std::vector<std::vector<InstructionId>> writers_; // by register, uniform ones behind the others
  std::map<InstructionId, std::set<unsigned>> overwritten_; // by call: on every path through it
};

// The functions of a cubin by name. Views into its bytes.
std::map<std::string, Code, std::less<>> read_code(std::string_view cubin);

} // namespace ptxasw::sass
