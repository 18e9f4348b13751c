// The PTX files of a call, and what ptxas reads in their places.
#pragma once

#include "driver/files.hpp"
#include "driver/program.hpp"
#include "driver/ptxas.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::driver {

constexpr std::size_t largest_output = std::size_t{1} << 30;

struct Input {
  std::string path; // as in the arguments; "-" for standard input
  std::string text;
  Optimized optimized;
  Patience patience; // with other texts in its place
  [[nodiscard]] std::string shown() const { return path == "-" ? "<stdin>" : path; }
};

using Texts = std::vector<std::optional<std::string>>; // one per input; none: as it is

class Inputs {
public:
  // Nothing, or why one of them cannot be read.
  std::optional<std::string> read(const std::vector<std::string>& paths, std::size_t size_limit);
  [[nodiscard]] std::vector<Input>& all() { return all_; }
  [[nodiscard]] const std::vector<Input>& all() const { return all_; }

  [[nodiscard]] bool has_standard_input() const { return spooled_; }
  void rewind() const; // standard input

  [[nodiscard]] bool is_any_changed() const;
  // Whether an entry says how large its blocks are.
  [[nodiscard]] bool state_block_sizes() const;
  [[nodiscard]] Texts rewritten() const;
  [[nodiscard]] std::vector<Reverted> reverted() const;
  // As they came, from memory where ptxas has written its output over one of them.
  Texts originals(std::vector<MemoryFile>& feeds) const;
  // What ptxas said of the rewritten ones, which it read from `feeds`.
  [[nodiscard]] std::string in_their_terms(std::string messages,
                                           const std::vector<MemoryFile>& feeds) const;

private:
  tl::expected<std::string, std::string> spool_standard_input(std::size_t size_limit);

  std::vector<Input> all_;
  bool spooled_ = false;
};

// The path of a new file in memory that ptxas may read.
std::optional<std::string> feed(std::vector<MemoryFile>& files, std::string_view text);

} // namespace ptxasw::driver
