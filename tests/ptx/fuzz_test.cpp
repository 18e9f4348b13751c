// Fixed-seed fuzzing: random bytes, random tokens, and mutations of the corpus; and texts made to
// be slow or deep, which must take time in proportion to their size.
#include "files.hpp"
#include "fuzz.hpp"
#include "sanitized.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <random>

namespace {

using namespace ptxasw;

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) {
  return random() % limit;
}

constexpr auto tokens = std::to_array<std::string_view>({"add",
                                                         ".s32",
                                                         "ld",
                                                         ".global",
                                                         " ",
                                                         "\n",
                                                         ",",
                                                         ";",
                                                         "{",
                                                         "}",
                                                         "[",
                                                         "]",
                                                         "(",
                                                         ")",
                                                         "@",
                                                         "!",
                                                         "%r1",
                                                         "%p1",
                                                         "a",
                                                         ":",
                                                         "::",
                                                         "|",
                                                         "_",
                                                         "+",
                                                         "-",
                                                         "*",
                                                         "%",
                                                         "<",
                                                         ">",
                                                         "=",
                                                         "?",
                                                         "0x1F",
                                                         "1.5",
                                                         "0f3F80",
                                                         "42U",
                                                         "/*",
                                                         "*/",
                                                         "//",
                                                         "\"",
                                                         "#",
                                                         ".reg",
                                                         ".b32",
                                                         ".func",
                                                         ".entry",
                                                         ".param",
                                                         ".section",
                                                         ".loc",
                                                         ".file",
                                                         ".pragma",
                                                         ".align",
                                                         ".attribute",
                                                         "call",
                                                         "bra",
                                                         "brx.idx",
                                                         ".branchtargets",
                                                         ".callprototype",
                                                         ".shared",
                                                         "generic",
                                                         ".v4",
                                                         ".u64",
                                                         "k",
                                                         "@@DWARF",
                                                         ".visible",
                                                         "~",
                                                         "&&",
                                                         "mov.b64",
                                                         ".maxntid",
                                                         "ret;",
                                                         "\r\n",
                                                         "\\",
                                                         ".version",
                                                         "9.0",
                                                         "setp",
                                                         "L",
                                                         ".s64"});

std::string random_tokens(Random& random) {
  std::string text;
  for (std::size_t i = below(random, 60); i > 0; --i)
    text += tokens[below(random, tokens.size())];
  return text;
}

std::string random_bytes(Random& random) {
  std::string text(below(random, 200), '\0');
  for (char& c : text)
    c = static_cast<char>(below(random, 256));
  return text;
}

// Cuts, copies, swaps and overwrites parts of a text.
std::string mutate(std::string text, Random& random) {
  for (std::size_t i = 1 + below(random, 4); i > 0 && !text.empty(); --i) {
    const std::size_t at = below(random, text.size());
    const std::size_t length = below(random, 40);
    switch (below(random, 5)) {
    case 0: text.erase(at, length); break;
    case 1: text.insert(at, tokens[below(random, tokens.size())]); break;
    case 2: text[at] = static_cast<char>(below(random, 256)); break;
    case 3: text.insert(at, text.substr(below(random, text.size()), length)); break;
    default: std::swap(text[at], text[below(random, text.size())]); break;
    }
  }
  return text;
}

TEST(Fuzz, RandomBytes) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random_bytes(random);
    ASSERT_EQ(test::survive(text), "") << text;
  }
}

TEST(Fuzz, RandomTokens) {
  Random random(2);
  for (int i = 0; i < 50000; ++i) {
    const std::string text = random_tokens(random);
    ASSERT_EQ(test::survive(text), "") << text;
  }
}

TEST(Fuzz, MutatedCorpus) {
  Random random(3);
  std::vector<std::string> corpus;
  for (const auto& path : test::files_below("tests", ".ptx"))
    corpus.push_back(test::read_file(path));
  ASSERT_FALSE(corpus.empty());
  for (int i = 0; i < 10000; ++i) {
    const std::string text = mutate(corpus[below(random, corpus.size())], random);
    ASSERT_EQ(test::survive(text), "") << text;
  }
}

TEST(Fuzz, TruncatedCorpus) {
  const std::string text =
      test::read_file(std::filesystem::path(PTXASW_SOURCE_DIR) / "tests/corpus/syntax.ptx");
  ASSERT_GT(text.size(), 3000U);
  for (std::size_t size = 0; size < text.size(); ++size)
    ASSERT_EQ(test::survive(std::string_view(text).substr(0, size)), "") << size;
}

std::string repeat(std::string_view unit, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes)
    text += unit;
  return text;
}

class Hostile : public testing::TestWithParam<std::string_view> {};

// A megabyte takes some 20 ms; anything quadratic would take minutes.
TEST_P(Hostile, TakesLinearTime) {
  const std::string text = repeat(GetParam(), 1U << 20);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(test::survive(text), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::seconds(test::sanitized ? 100 : 10));
}

INSTANTIATE_TEST_SUITE_P(
    Units, Hostile,
    testing::Values("{", "}", "[", "(", "\"", "/*", "/*;", "//", "-", "!", "~", "1?", "a[", "a(",
                    "@", ".", ":", "a:", ";", ",", "#", "# 1 \"", "\\", "\n", "%", "_", "a", "1",
                    "0x", "mov a,(", "mov a, {", "mov {", "mov a,[b,{", "call (", "call f,({",
                    ".section a {", ".section a { b: ", ".b8 1,", ".entry k(", ".entry k {",
                    ".func f(.param .b32 a,", ".global .u32 a = {", ".reg .b32 a,",
                    ".pragma \"a\",", ".pragma \"a;", "a|", "add a, b\n", "add a b\n",
                    "x: .branchtargets ", ".maxntid 1,", ".loc 1 1 1,", "{.reg .b32 a;", "@@DWARF ",
                    "1+(", "mov a, 1 ? ", "mov a, b+;", "mov a, -", ".visible ", ".visible .func ",
                    ".align ", "\xff", "ret; }", "L: bra L;{"));

TEST(Hostile, DeepBlocksInOneFunction) {
  std::string text = ".entry k {";
  text += repeat("{ .reg .b32 %r<9>; L: mov.b32 %r1, %r2; bra L; ", 1U << 19);
  EXPECT_EQ(test::survive(text), "");
}

} // namespace
