// What stands in front of the instructions of a body, where several copies of each are written:
// blanks, comments, and the .loc that is in force.
#pragma once

#include "ptx/body.hpp"
#include "ptx/build.hpp"

#include <array>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace ptxasw::passes {

class Leads {
public:
  // `inside`: the body's statements, which have to outlive this, as has `code`.
  Leads(const ptx::Body& body, std::span<const ptx::Statement> inside, ptx::Code& code);

  // Ahead of an instruction. The first copy keeps what stands in front; where `code` follows the
  // place in the source is the instruction's, whichever was in force.
  void write(ptx::InstId inst, bool is_first, bool code);

private:
  struct Lead {
    std::string_view text;
    std::vector<const ptx::Statement*> stated; // the .loc in it
    const ptx::Statement* location = nullptr;  // in force
  };
  using SourceLocation = std::array<std::uint32_t, 3>; // file, line, column
  static SourceLocation place_of(const ptx::Location& l) { return {l.file, l.line, l.column}; }
  void state_callers(const ptx::Statement& statement);

  const ptx::Module& module_;
  std::span<const ptx::Statement> inside_;
  ptx::Code& code_;
  std::vector<Lead> leads_;                  // by instruction
  const ptx::Statement* location_ = nullptr; // in force where text is added
  std::set<SourceLocation> stated_;          // by a .loc that was written
};

} // namespace ptxasw::passes
