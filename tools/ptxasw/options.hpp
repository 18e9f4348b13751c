// What the sub-commands share: the optimizer's options, reading a text, writing one.
#pragma once

#include "commands.hpp"
#include "ptxasw/ptxasw.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace ptxasw::tool {

std::string optimizer_help();

// Sets the optimizer's options found among the arguments (--NAME, --NAME=VALUE, --NAME VALUE), lets
// `app` parse the others, then runs `act`. Mistakes in the arguments end with a message and exit
// code 2, std::runtime_error of `act` with exit code 1.
int parse_and(CLI::App& app, Options& options, Arguments arguments,
              const std::function<void()>& act);

// Both throw std::runtime_error; "-" is standard input or output.
std::string read_text(const std::string& path);
void write_text(const std::string& path, std::string_view text);

// Calls `act` with the ptxas that assembles this text, or with nothing where none is found. Ends
// the process when a signal says so meanwhile.
void with_ptxas(const std::string& text, const Options& options,
                const std::function<void(Assembler*)>& act);

// What the drop-in would assemble in the place of this text, where there is a ptxas to ask. Ends
// the process when a signal says so meanwhile.
Optimized optimize_with_ptxas(const std::string& text, const std::string& name,
                              const Options& options);

} // namespace ptxasw::tool
