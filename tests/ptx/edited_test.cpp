// An edited module is the one that the edited text would be read as.
#include "ptx/edited.hpp"

#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <tuple>

using namespace ptxasw::ptx;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Where a piece of the text stands; the empty ones of both are alike.
std::size_t place(const Module& module, std::string_view text) {
  return text.empty() ? 0 : static_cast<std::size_t>(text.data() - module.text->data());
}

class Same {
public:
  Same(const Module& a, const Module& b) : a_(a), b_(b) {}

  void run() {
    ASSERT_EQ(*a_.text, *b_.text);
    ASSERT_EQ(a_.statements.size(), b_.statements.size());
    for (std::size_t n = 0; n < a_.statements.size(); ++n)
      statement(a_.statements[n], b_.statements[n]);
    EXPECT_EQ(a_.instructions.size(), b_.instructions.size());
    EXPECT_EQ(a_.modifiers.size(), b_.modifiers.size());
    EXPECT_EQ(a_.operands.size(), b_.operands.size());
    EXPECT_EQ(a_.variables.size(), b_.variables.size());
    ASSERT_EQ(a_.functions.size(), b_.functions.size());
    for (std::size_t n = 0; n < a_.functions.size(); ++n)
      function(a_.functions[n], b_.functions[n]);
    EXPECT_EQ(std::tuple(a_.version_major, a_.version_minor, a_.address_size),
              std::tuple(b_.version_major, b_.version_minor, b_.address_size));
    text(a_.target, b_.target);
    ASSERT_EQ(a_.files.size(), b_.files.size());
    for (std::size_t n = 0; n < a_.files.size(); ++n)
      text(a_.files[n], b_.files[n]);
    EXPECT_EQ(a_.diagnostics.size(), b_.diagnostics.size());
    ASSERT_EQ(a_.globals.size(), b_.globals.size());
    for (const auto& [name, global] : a_.globals) {
      ASSERT_TRUE(b_.globals.contains(name)) << name;
      EXPECT_EQ(std::tuple(global.is_function, global.index),
                std::tuple(b_.globals.at(name).is_function, b_.globals.at(name).index));
    }
    const auto end = static_cast<std::uint32_t>(a_.text->size());
    EXPECT_EQ(a_.lines.position(end).line, b_.lines.position(end).line);
  }

private:
  void text(std::string_view x, std::string_view y) {
    EXPECT_EQ(x, y);
    EXPECT_EQ(place(a_, x), place(b_, y)) << x;
  }
  static void range(Range x, Range y) {
    EXPECT_EQ(std::pair(x.begin, x.end), std::pair(y.begin, y.end));
  }
  void operands(std::span<const Operand> x, std::span<const Operand> y) {
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t n = 0; n < x.size(); ++n) {
      EXPECT_EQ(std::tuple(x[n].kind, x[n].value), std::tuple(y[n].kind, y[n].value));
      text(x[n].text, y[n].text);
      range(x[n].range, y[n].range);
      operands(a_.children(x[n]), b_.children(y[n]));
    }
  }
  void instruction(const Instruction& x, const Instruction& y) {
    EXPECT_EQ(std::tuple(x.op, x.guard.negated), std::tuple(y.op, y.guard.negated));
    range(x.mnemonic, y.mnemonic);
    text(x.guard.predicate, y.guard.predicate);
    const auto mine = a_.modifiers_of(x), others = b_.modifiers_of(y);
    ASSERT_EQ(mine.size(), others.size());
    for (std::size_t n = 0; n < mine.size(); ++n)
      text(mine[n], others[n]);
    operands(a_.operands_of(x), b_.operands_of(y));
  }
  void variable(const Variable& x, const Variable& y) {
    text(x.name, y.name);
    const auto parts = [](const Variable& v) {
      return std::tie(v.space, v.type, v.vector, v.alignment, v.range, v.elements, v.is_array,
                      v.has_initializer, v.external, v.visible, v.weak, v.common);
    };
    EXPECT_EQ(parts(x), parts(y)) << x.name;
  }
  void function(const Function& x, const Function& y) {
    text(x.name, y.name);
    const auto parts = [](const Function& f) {
      return std::tuple(f.is_entry, f.is_declaration, f.external, f.visible, f.weak, f.maxntid,
                        f.reqntid, f.minnctapersm, f.maxnreg, f.uses_clusters, f.body.first,
                        f.body.count, f.statement, f.has_opaque);
    };
    EXPECT_EQ(parts(x), parts(y)) << x.name;
    ASSERT_EQ(x.parameters.size(), y.parameters.size());
    for (std::size_t n = 0; n < x.parameters.size(); ++n)
      variable(x.parameters[n], y.parameters[n]);
    ASSERT_EQ(x.returns.size(), y.returns.size());
    for (std::size_t n = 0; n < x.returns.size(); ++n)
      variable(x.returns[n], y.returns[n]);
  }
  void statement(const Statement& x, const Statement& y) {
    ASSERT_EQ(x.kind, y.kind);
    range(x.range, y.range);
    ASSERT_EQ(std::tuple(x.index, x.count), std::tuple(y.index, y.count));
    switch (x.kind) {
    case StatementKind::instruction:
      instruction(a_.instructions[x.index], b_.instructions[y.index]);
      break;
    case StatementKind::variable:
      for (std::uint32_t n = 0; n < x.count; ++n)
        variable(a_.variables[x.index + n], b_.variables[y.index + n]);
      break;
    case StatementKind::label: text(a_.labels[x.index], b_.labels[y.index]); break;
    case StatementKind::location: {
      const Location &l = a_.locations[x.index], &m = b_.locations[y.index];
      EXPECT_EQ(std::tuple(l.file, l.line, l.column, l.inlined_at),
                std::tuple(m.file, m.line, m.column, m.inlined_at));
      break;
    }
    case StatementKind::prototype: {
      const Prototype &p = a_.prototypes[x.index], &q = b_.prototypes[y.index];
      text(p.label, q.label);
      text(p.directive, q.directive);
      operands(std::span(a_.operands).subspan(p.names.first, p.names.count),
               std::span(b_.operands).subspan(q.names.first, q.names.count));
      break;
    }
    default: break;
    }
  }

  const Module &a_, &b_;
};

void expect_same(const Edited& made, const Module& before, std::span<const Edit> edits) {
  Same(made.module, parse(print(before, edits), before.file)).run();
}

// What rewrites do: other instructions, more of them in front of one or behind a brace, words
// within a mnemonic, line ends.
std::vector<Edit> some_edits(const Module& module, std::mt19937& random) {
  std::vector<Edit> edits;
  std::uniform_int_distribution<int> what(0, 40);
  for (const Statement& statement : module.statements) {
    const auto [begin, end] = statement.range;
    if (statement.kind == StatementKind::scope_open && what(random) < 20)
      edits.push_back({{end, end}, " .reg .f32 %more<3>; mov.f32 %more0, 0f00000000;"});
    if (statement.kind == StatementKind::line_marker) edits.push_back({statement.range, "//"});
    if (statement.kind != StatementKind::instruction) continue;
    const std::uint32_t behind = module.instructions[statement.index].mnemonic.end;
    switch (what(random)) {
    case 0: edits.push_back({statement.range, "@%p9 fma.rn.f32 %f1, %f2, 0f3F800000, %f3;"}); break;
    case 1: edits.push_back({{begin, begin}, "mov.b32 {%r1, _}, %rd7; "}); break;
    case 2: edits.push_back({{begin, begin}, "\n"}); break;
    case 3: edits.push_back({{behind, behind}, ".rn"}); break;
    case 4:
      edits.push_back({statement.range, "{ .reg .b32 %x; st.global.v2.u32 [%rd1+-8], {%x, 1}; }"});
      break;
    case 5: edits.push_back({statement.range, ""}); break;
    default: break;
    }
  }
  return edits;
}

} // namespace

TEST(Edited, IsWhatTheEditedTextIsReadAs) {
  std::mt19937 random(15);
  unsigned files = 0, read_again = 0;
  for (const char* folder : {"golden/ptx", "corpus", "traps"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(PTXASW_SOURCE_DIR) / "tests" / folder)) {
      if (entry.path().extension() != ".ptx") continue;
      const Module before = parse(read(entry.path()), entry.path().filename().string());
      if (before.text->size() > 1U << 20) continue;
      SCOPED_TRACE(entry.path());
      const std::vector<Edit> edits = some_edits(before, random);
      const Edited made = edited(before, edits);
      expect_same(made, before, edits);
      ++files;
      if (before.diagnostics.empty()) read_again += made.read_again ? 1 : 0;
      if (::testing::Test::HasFailure()) return;
    }
  EXPECT_GT(files, 50U);
  EXPECT_LT(read_again * 20, files) << "what is meant to be read in parts hardly ever is";
}

// Headers, variables, whole functions: the reader follows what they open and close.
TEST(Edited, ReadsNoMoreWhereAFunctionIsWrittenAnew) {
  const Module before =
      parse(".version 8.0\n.target sm_90\n.address_size 64\n.global .f32 g;\n.global .f32 h;\n"
            ".visible .entry k(.param .u32 n)\n{\n.reg .f32 %f<4>;\n"
            "top:\nadd.f32 %f1, %f2, %f3;\nret;\n}\n"
            ".visible .entry l()\n{\nret;\n}\n");
  const auto at = [&](std::string_view text) {
    return static_cast<std::uint32_t>(before.text->find(text));
  };
  for (const Edit& edit :
       {Edit{{at(")"), at(")")}, ", .param .u64 m"},
        Edit{{at(".visible .entry k"), at("\n.visible .entry l")},
             ".visible .entry j()\n.maxntid 256\n{\n.reg .pred %p;\n@%p bra out;\nout: ret;\n}"},
        Edit{{at(".reg"), at("top")}, ".reg .b32 %r<9>;\n.shared .b8 tile[64];\n"},
        Edit{{at("top:"), at("add.f32")}, ""},
        Edit{{at("\n.visible .entry l"), at("\n.visible .entry l")},
             "\n.visible .entry m()\n{\nret;\n}"},
        Edit{{at(".global .f32 h"), at(".visible .entry k")}, ""},
        Edit{{at(".global .f32 g"), at(".global .f32 h")}, ".global .f32 f;\n"}}) {
    SCOPED_TRACE(edit.text);
    const unsigned read = texts_read();
    const Edited made = edited(before, std::span(&edit, 1));
    EXPECT_EQ(texts_read(), read);
    EXPECT_FALSE(made.read_again);
    expect_same(made, before, std::span(&edit, 1));
  }
}

// What a stretch that is read by itself would not see.
TEST(Edited, ReadsAllAgainWhereAStretchGoesOn) {
  const Module before = parse(".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k()\n{\n.reg .f32 %f<4>;\n"
                              "add.f32 %f1, %f2, %f3; mul.f32 %f1, %f1, %f1;\nret;\n}\n");
  const auto at = [&](std::string_view text) {
    return static_cast<std::uint32_t>(before.text->find(text));
  };
  for (const Edit& edit :
       {Edit{{at("mul"), at("mul")}, "// "}, Edit{{at("mul"), at("mul")}, "/* "},
        Edit{{at("mul"), at("mul")}, "@%p1 "}, Edit{{at("mul"), at("mul")}, "add.f32 "},
        Edit{{at("ret"), at("ret")}, "}"}, Edit{{at("ret"), at("ret")}, "{"},
        Edit{{at("sm_90"), at("sm_90") + 5}, "sm_80"},
        Edit{{at(".visible"), at(".visible")}, ".file 1 \"x.cu\"\n"}}) {
    SCOPED_TRACE(edit.text);
    const Edited made = edited(before, std::span(&edit, 1));
    EXPECT_TRUE(made.read_again);
    expect_same(made, before, std::span(&edit, 1));
  }
}

TEST(Edited, NothingIsAskedOfTheGrammarWithoutEdits) {
  const Module before = parse(".version 8.0\n.target sm_90\n.address_size 64\n# 5 \"x\"\n"
                              ".visible .entry k()\n{\nret; // so\n}\n /* end */ ");
  const Edited made = edited(before, {});
  EXPECT_FALSE(made.read_again);
  expect_same(made, before, {});
}
