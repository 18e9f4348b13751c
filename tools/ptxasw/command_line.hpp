// What the sub-commands share: the optimizer's options, reading a text, writing
// one.
#pragma once

#include "commands.hpp"
#include "parser.hpp"
#include "ptxasw/ptxasw.hpp"

#include <functional>
#include <string>

namespace ptxasw::tool {

std::string optimizer_help();

// Sets the optimizer's options found among the arguments (--NAME, --NAME=VALUE,
// --NAME VALUE), lets `app` parse the others, then runs `act`, whose exit code
// it gives back. What is thrown ends with a message and the exit code for it.
int parse_and(Parser& app, Options& options, Arguments arguments, const std::function<int()>& act);
// The same for what may throw.
int guarded(const std::function<int()>& act);

// What a file holds, or standard input for "-". Throws InputError.
std::string read_text(const std::string& path);
// Throws InputError unless a text begins as PTX does, with .version.
void expect_ptx(std::string_view text, const std::string& path);
// Both.
std::string read_ptx(const std::string& path);
// The format of a report is told by the end of its name, .json, .html or .txt; a name without one
// is text. What is wrong with another, or nothing.
std::string mistaken_report_name(std::string_view path);

// Whether what is written there may be coloured: on a terminal, unless NO_COLOR
// is set.
bool color_to(const std::string& path);
// Throws std::runtime_error; "-" is standard output.
void write_text(const std::string& path, std::string_view text);

// Calls `act` with the ptxas that assembles this text, or with nothing where
// none is found. Ends the process when a signal says so meanwhile.
void with_ptxas(const std::string& text, const Options& options,
                const std::function<void(Assembler*)>& act);

// What the drop-in would assemble in the place of this text, where there is a
// ptxas to ask. Ends the process when a signal says so meanwhile. For people its report says what
// would help, too.
Optimized optimize_with_ptxas(const std::string& text, const std::string& name, Options options,
                              bool seeks_hints = false);

} // namespace ptxasw::tool
