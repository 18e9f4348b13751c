// A text through the reader, and an edited one: from piece to piece of what was kept.
#include "ptx/parse.hpp"

#include "ptx/edited.hpp"
#include "ptx/reader.hpp"
#include "ptx/written.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ptxasw::ptx {
namespace {

// Measured on nvcc's output: bytes per element, with room to spare.
void reserve(Module& module) {
  const std::size_t size = module.text->size();
  module.statements.reserve(size / 24 + 16);
  module.instructions.reserve(size / 28 + 16);
  module.operands.reserve(size / 8 + 16);
  module.modifiers.reserve(size / 12 + 16);
}

Module empty_module(std::string text, std::string file) {
  Module module;
  module.text = std::make_shared<const std::string>(std::move(text));
  module.file = std::move(file);
  return module;
}

// Counted for tests.
thread_local unsigned whole_texts = 0; // NOLINT(*-avoid-non-const-global-variables)

// A piece of the old text, and where it stands in the new one.
struct Kept {
  Range from;
  std::int64_t moved = 0;
};

// May be replaced, and read again without what stands around it: the reader follows scopes and
// functions. What a directive said is not taken back.
bool stands_alone(const Statement& statement) {
  return statement.kind != StatementKind::directive && statement.kind != StatementKind::opaque;
}

// Says itself where it ends: what follows does not matter.
bool is_terminated(const Module& module, const Statement& statement) {
  const std::string_view text = module.slice(statement.range);
  return std::string_view(";{}:").find(text.back()) != std::string_view::npos;
}

class Editor {
public:
  Editor(const Module& before, Module& after, std::span<const Edit> edits)
      : before_(before), after_(after), reader_(after) {
    std::int64_t at = 0;
    for (const Piece& piece : pieces(before, edits)) {
      const auto size = static_cast<std::uint32_t>(piece.text.size());
      if (piece.from != ~0U) kept_.push_back({{piece.from, piece.from + size}, at - piece.from});
      at += size;
    }
  }

  // False: all has to be read.
  bool run() {
    if (!before_.diagnostics.empty()) return false;
    std::size_t last = kept_.size(); // the piece of the statement before; none
    for (std::size_t n = 0; n < before_.statements.size(); ++n) {
      const Statement& statement = before_.statements[n];
      const std::size_t piece = piece_of(statement.range);
      const bool changes_behind =
          n + 1 < before_.statements.size() && piece_of(before_.statements[n + 1].range) != piece;
      const bool is_cut = piece == kept_.size();
      if (is_cut || (changes_behind && !is_terminated(before_, statement))) {
        const bool says_the_same = !is_cut && statement.kind == StatementKind::directive;
        if (!stands_alone(statement) && !says_the_same) return false;
        last = kept_.size();
        continue;
      }
      const std::int64_t moved = kept_[piece].moved;
      const auto begin = static_cast<std::uint32_t>(statement.range.begin + moved);
      if (piece != last && !reader_.read_to(begin)) return false;
      reader_.take(before_, statement, moved);
      last = piece;
    }
    if (kept_.empty() || last != kept_.size() - 1 || kept_.back().from.end != before_.text->size())
      reader_.read_all();
    else
      reader_.finish();
    return after_.diagnostics.empty() && take_heading();
  }

private:
  // The piece in which all of it is, and nothing but it; kept_.size() if it was cut.
  [[nodiscard]] std::size_t piece_of(Range range) const {
    const auto next = std::ranges::upper_bound(kept_, range.begin, {},
                                               [](const Kept& kept) { return kept.from.begin; });
    if (next == kept_.begin() || std::prev(next)->from.end < range.end) return kept_.size();
    return static_cast<std::size_t>(std::prev(next) - kept_.begin());
  }

  [[nodiscard]] std::string_view moved(std::string_view text) const {
    if (text.empty()) return {};
    const auto at = static_cast<std::uint32_t>(text.data() - before_.text->data());
    const std::size_t piece = piece_of({at, at + static_cast<std::uint32_t>(text.size())});
    return {after_.text->data() + at + kept_.at(piece).moved, text.size()};
  }

  // What directives said, which were kept. False if what was read says something else.
  bool take_heading() {
    const auto is_said = [](auto now, auto before, auto unsaid) {
      return now == unsaid || now == before;
    };
    const Module unsaid;
    if (!is_said(after_.version_major, before_.version_major, unsaid.version_major) ||
        !is_said(after_.version_minor, before_.version_minor, unsaid.version_minor) ||
        !is_said(after_.address_size, before_.address_size, unsaid.address_size) ||
        !is_said(after_.target, before_.target, unsaid.target) || !after_.files.empty())
      return false;
    after_.version_major = before_.version_major;
    after_.version_minor = before_.version_minor;
    after_.address_size = before_.address_size;
    after_.target = moved(before_.target);
    for (const std::string_view file : before_.files)
      after_.files.push_back(moved(file));
    return true;
  }

  const Module& before_;
  Module& after_;
  Reader reader_;
  std::vector<Kept> kept_;
};

} // namespace

Module parse(std::string text, std::string file) {
  Module module = empty_module(std::move(text), std::move(file));
  if (module.text->size() >= std::numeric_limits<std::uint32_t>::max()) {
    const Range all{0, std::numeric_limits<std::uint32_t>::max()};
    module.statements.push_back({StatementKind::opaque, all, 0, 0});
    module.diagnostics.push_back({Severity::error, {0, 0}, "texts of 4 GiB and more are not read"});
    return module;
  }
  module.lines = LineTable(*module.text);
  reserve(module);
  ++whole_texts;
  Reader(module).read_all();
  return module;
}

unsigned texts_read() {
  return whole_texts;
}

Edited edited(const Module& module, std::span<const Edit> edits) {
  Module made = empty_module(print(module, edits), module.file);
  if (made.text->size() < std::numeric_limits<std::uint32_t>::max()) {
    made.lines = LineTable(*made.text);
    reserve(made);
    if (Editor(module, made, edits).run()) return {std::move(made), false};
  }
  return {parse(*made.text, module.file), true};
}

Edited edited(const Module& module, const Function& function, std::string text) {
  const Edit edit{range_of(module, function), std::move(text)};
  return edited(module, std::span(&edit, 1));
}

} // namespace ptxasw::ptx
