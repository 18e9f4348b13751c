// Which line of the PTX text each machine instruction comes from.
//
// `ptxas -lineinfo` writes it into .nv_debug_line_sass, whether or not the text has .loc
// directives: a line program as of DWARF 2 (chapter 6.2) without directories and files, with one
// sequence for each .text section, whose DW_LNE_set_address has a relocation to the function's
// symbol. Lines are those of the text that ptxas read. The option does not change any .text
// section.
#pragma once

#include "sass/cubin.hpp"

#include <map>
#include <string>

namespace ptxasw::sass {

struct LineRow {
  std::uint64_t address = 0; // of the first instruction, in bytes from the start of the section
  std::uint32_t line = 0;    // from 1
};

// By function, in the order of addresses. Damaged tables end where they are damaged.
std::map<std::string, std::vector<LineRow>, std::less<>> line_rows(const Cubin& cubin);

} // namespace ptxasw::sass
