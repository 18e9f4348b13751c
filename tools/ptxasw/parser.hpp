// The command line of a sub-command: what it takes is written down once, for
// reading it, for
// --help, for its manual page (--help=man) and for a shell that completes words
// (--help=words).
//
// The library that reads it, CLI11, is known to parser.cpp alone: its headers
// take longer to compile than all sub-commands together.
#pragma once

#include "commands.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ptxasw::tool {

// How a sub-command ends. `exit_codes` says what they mean, for --help and the
// manual pages.
constexpr int exit_done = 0, exit_failed = 1, exit_usage = 2, exit_not_shown = 3, exit_no_input = 4;
struct ExitCode {
  int code;
  std::string_view meaning;
};
std::span<const ExitCode> exit_codes();

// An input that cannot be read, is no PTX, or has no such kernel.
class InputError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};
// A mistake on the command line.
class UsageError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// The manual page of a sub-command that reads its arguments by itself.
std::string manual_page_of(std::string_view name, std::string_view usage);

// What an argument has to be.
struct Check {
  bool required = false;
  std::vector<std::string> choices = {};
  std::uint64_t least = 0, most = ~std::uint64_t{0}; // of a number
};

class Parser {
public:
  // `program`: what stands in front of the name, "ptxasw " of sub-commands.
  Parser(std::string name, std::string what, std::string program = "ptxasw ")
      : program_(std::move(program)), name_(std::move(name)), what_(std::move(what)) {}

  // `names` is "INPUT" for a word without dashes, "-o,--output" or "--grid". A
  // bool is a flag; a vector of words takes the option again and again, or all
  // words that are left.
  template <class T> void add(std::string names, T& target, std::string help, Check check = {}) {
    rows_.push_back({std::move(names), &target, std::move(help), std::move(check)});
  }
  void footer(std::string text) { footer_ = std::move(text); }
  void takes_optimizer_options() { optimizer_ = true; }

  [[nodiscard]] bool knows(std::string_view option) const; // "--grid"

  // Sets the targets; the exit code if that is all: help was asked for, or
  // there is a mistake.
  std::optional<int> read(Arguments arguments) const;

private:
  struct Row {
    std::string names;
    std::variant<std::string*, std::vector<std::string>*, std::uint32_t*, std::uint64_t*, double*,
                 bool*>
        target;
    std::string help;
    Check check;
  };
  [[nodiscard]] std::vector<std::string> options() const; // "--output", "-o", ...
  [[nodiscard]] std::string footer_text() const;
  [[nodiscard]] std::string manual_page() const;
  [[nodiscard]] std::string words() const;
  [[nodiscard]] std::optional<std::string> unknown_option(const Arguments& arguments) const;

  std::string program_, name_, what_, footer_;
  std::vector<Row> rows_;
  bool optimizer_ = false;
};

} // namespace ptxasw::tool
