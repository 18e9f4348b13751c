// The ptxas command line, read exactly as ptxas reads it.
//
// A wrapper that guesses takes the value of an option it does not know for an input file. So every
// option comes from one table (options.def), and the smallest doubt is reported instead of
// resolved: the caller then runs the real ptxas on the arguments as they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

enum class ValueKind : std::uint8_t { flag, value, number, level };

enum class Role : std::uint8_t {
  plain,
  information,
  version,
  output,
  gpu,
  opt_level,
  verbose,
  text,
  options_file,
  side_output,
  cache_operator,
  hands_off,
};

struct PtxasOption {
  std::string_view long_name, short_name;
  ValueKind kind = ValueKind::flag;
  Role role = Role::plain;
};
std::span<const PtxasOption> ptxas_options();

// One option with its value, one input file, or one option of our own.
struct Item {
  enum class Kind : std::uint8_t { option, input, own };
  Kind kind = Kind::option;
  const PtxasOption* option = nullptr;
  std::string value;              // the option's value, the input's path, our NAME[=VALUE]
  std::vector<std::string> words; // as written
  bool from_file = false;         // stood in an options file
};

// What to change when the arguments are put together again.
struct Changes {
  std::vector<std::optional<std::string>> inputs; // one per input, in order; empty: as it was
  bool verbose = false;                           // add -v
  bool line_info = false;                         // add -lineinfo
  std::string entries;                            // compile only these, unless others are named
  std::optional<std::string> output; // in place of the output file, and no other output either
};

struct CommandLine {
  std::vector<Item> items; // in the order in which ptxas sees them, options files expanded in place
  std::string doubt;       // why the line was not understood; the items are then incomplete
  std::vector<std::string> untouched; // the arguments without our own

  [[nodiscard]] std::vector<std::string> inputs() const;
  [[nodiscard]] std::vector<std::string> own_options() const;
  [[nodiscard]] const Item* last(Role role) const; // the last one of several wins
  [[nodiscard]] std::ptrdiff_t count(Role role) const;
  [[nodiscard]] bool gives(std::string_view long_name) const;
  // That says of plain loads or stores what .cv and .wt say of one: each is done for itself.
  [[nodiscard]] const Item* ordering() const;
  [[nodiscard]] bool has(Role role) const { return last(role) != nullptr; }
  [[nodiscard]] std::string output() const;       // elf.o where none is given
  [[nodiscard]] std::string architecture() const; // sm_75 where none is given
  [[nodiscard]] std::optional<unsigned> opt_level() const;
  [[nodiscard]] std::vector<std::string> with(const Changes& changes) const;
};

CommandLine parse_command_line(std::span<const std::string> arguments);

// The words of an options file: blanks separate, "..." quotes, a backslash takes the next character
// as it is. Nothing where ptxas's reading is not certain.
std::optional<std::vector<std::string>> split_options_file(std::string_view text);

inline constexpr std::string_view own_prefix = "--ptxasw-";

} // namespace ptxasw::driver
