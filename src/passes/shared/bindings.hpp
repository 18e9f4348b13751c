// Registers by name, where the name is the right one.
//
// Proofs speak of registers; what a rewrite emits are names, and the nested blocks { } of PTX may
// give a name another meaning where it lands. So whoever emits a name of the function's own marks
// it with the register that is meant, and apply() (apply.hpp) resolves the finished text again and
// compares. Names that nobody checks in this way cannot be emitted: an unmarked name of the
// function's own is refused, too.
//
// A mark is the number of the register and of its copy, between control characters in front of the
// name. It is part of the name until apply() takes it out. In the same way a piece of the function
// that is emitted once more is marked with the place where it stood, so that it is known of every
// copy of an instruction whose copy it is.
#pragma once

#include "ptx/body.hpp"
#include "ptx/build.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxasw::passes {

// Which register of the rewritten function: rewrites may give each copy of its body one of its own.
struct Binding {
  ptx::RegId reg = ptx::none;
  unsigned copy = 0;
  friend auto operator<=>(const Binding&, const Binding&) = default;
};

std::string marked(Binding meaning, std::string_view name);

struct BoundName {
  Binding meaning;                 // of a name, or
  std::uint32_t piece = ptx::none; // where the piece stands that begins here
};
// Takes a mark off the front of a text, if one is there.
std::optional<BoundName> take_mark(std::string_view& text);
// Texts with this character cannot be rewritten.
inline constexpr char mark_begin = '\x01';

// The instruction without its guard.
ptx::Range behind_guard(const ptx::Body& body, const ptx::Inst& inst);

// What the names of one function mean, and where.
class Names {
public:
  explicit Names(const ptx::Body& body);

  [[nodiscard]] const ptx::Body& body() const { return body_; }
  // By place.
  [[nodiscard]] const std::vector<ptx::Mention>& mentions() const { return mentions_; }

  // The register by its own name, marked.
  [[nodiscard]] ptx::Reg reg(ptx::RegId reg, unsigned copy = 0) const;
  [[nodiscard]] std::string name(ptx::RegId id, unsigned copy = 0) const {
    return reg(id, copy).name;
  }
  // The guard of an instruction; empty if it has none.
  [[nodiscard]] ptx::Predicate guard(const ptx::Inst& inst, unsigned copy = 0) const;
  // A piece of the function with its names marked, and as a copy.
  [[nodiscard]] std::string text(ptx::Range piece, unsigned copy = 0) const;
  // The same, with what `rename` gives for each mention in its place.
  template <class Rename>
  [[nodiscard]] std::string copied(ptx::Range piece, const Rename& rename) const {
    return mark_of(piece) + spliced(piece, rename);
  }
  // And not marked as a copy.
  template <class Rename>
  [[nodiscard]] std::string spliced(ptx::Range piece, const Rename& rename) const {
    std::string result;
    for (auto m = first_in(piece); m != mentions_.end() && m->where.begin < piece.end; ++m) {
      result += body_.module->slice({piece.begin, m->where.begin});
      result += rename(*m);
      piece.begin = m->where.end;
    }
    return result.append(body_.module->slice(piece));
  }

  // In front of the instruction the register's own name means it.
  [[nodiscard]] bool known_at(ptx::RegId reg, ptx::InstId inst) const;
  // Its name means nothing else anywhere in the function, and is declared outside nested blocks.
  [[nodiscard]] bool unmistakable(ptx::RegId reg) const;
  // Does the function, or one of its blocks, declare the name?
  [[nodiscard]] bool declares(std::string_view name) const;
  // Just behind the function's opening brace.
  [[nodiscard]] std::uint32_t body_start() const { return body_start_; }

private:
  struct Declaration {
    std::uint32_t count = 0;       // of a range %r<count>; 0: a single name
    std::uint32_t at = 0, end = 0; // offsets: from the declaration to the end of its block
    std::uint32_t block = 0;       // where that begins
  };
  using Found = std::vector<const Declaration*>;

  static std::string mark_of(ptx::Range piece);
  void declare(const ptx::Variable& variable, const Declaration& declaration);
  [[nodiscard]] Found find(std::string_view name) const;
  [[nodiscard]] const Declaration* look_up(std::string_view name, std::uint32_t offset) const;
  [[nodiscard]] std::vector<ptx::Mention>::const_iterator first_in(ptx::Range piece) const;

  const ptx::Body& body_;
  std::vector<ptx::Mention> mentions_;
  std::vector<std::uint32_t> first_; // by register: where it is first mentioned
  // Numbers of declarations, by name or, of ranges, by prefix.
  std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_name_, by_prefix_;
  std::vector<Declaration> declarations_;
  std::uint32_t body_start_ = 0;
};

} // namespace ptxasw::passes
