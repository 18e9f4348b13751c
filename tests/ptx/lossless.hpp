// What must hold of the parse of any text at all.
#pragma once

#include "ptx/parse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptxasw::test {

// Removes comments and blanks that stand between statements; what is left was lost by the parser.
inline std::string not_trivia(std::string_view text) {
  std::string rest;
  while (!text.empty()) {
    if (text.starts_with("//")) {
      text.remove_prefix(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      const std::size_t end = text.find("*/", 2);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
    } else {
      if (std::string_view(" \t\r\n\v\f").find(text[0]) == std::string_view::npos) rest += text[0];
      text.remove_prefix(1);
    }
  }
  return rest;
}

// Statements are in order, not empty, apart from each other, and with the trivia between them they
// are the whole text; printing gives the text back.
inline void expect_lossless(const ptx::Module& module, std::string_view text) {
  std::uint32_t done = 0;
  for (const ptx::Statement& statement : module.statements) {
    ASSERT_LT(statement.range.begin, statement.range.end);
    ASSERT_LE(done, statement.range.begin);
    ASSERT_LE(statement.range.end, text.size());
    ASSERT_EQ(not_trivia(text.substr(done, statement.range.begin - done)), "");
    done = statement.range.end;
  }
  ASSERT_EQ(not_trivia(text.substr(done)), "");
  ASSERT_EQ(ptx::print(module), text);
  ASSERT_EQ(ptx::coverage(module).bytes, text.size());
}

inline void expect_understood(const ptx::Module& module) {
  std::string messages;
  for (const ptx::Diagnostic& diagnostic : module.diagnostics)
    messages += render(diagnostic, *module.text, module.lines, module.file);
  EXPECT_EQ(messages, "");
  EXPECT_EQ(ptx::coverage(module).opaque_statements, 0U);
}

} // namespace ptxasw::test
