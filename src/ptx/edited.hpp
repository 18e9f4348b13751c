// The module of an edited text, without reading all of it again.
//
// What an edit leaves alone keeps its statements: they are copied with their places moved. Only the
// stretches between two such statements in which something was replaced or inserted go through the
// grammar. It is the module that parse() gives of the printed text (tests/ptx/edited_test.cpp holds
// both side by side over all edits of the program), under one condition that is checked here: a
// stretch that was read ends where the next statement that was kept begins. Where it does not (an
// unclosed comment was inserted), where a directive was touched or something cannot be read, all is
// read again.
#pragma once

#include "ptx/parse.hpp"

#include <span>
#include <string>

namespace ptxasw::ptx {

struct Edited {
  Module module;
  bool read_again = false; // all of it, as parse() does
};

// Edits as for print(): in any order, none over another.
Edited edited(const Module& module, std::span<const Edit> edits);

// With another text for one function.
Edited edited(const Module& module, const Function& function, std::string text);

// Whole texts that this thread has read so far, by parse() or here: for whoever counts.
unsigned texts_read();

} // namespace ptxasw::ptx
