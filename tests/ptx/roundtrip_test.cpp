// Every PTX text of the repository is read completely and printed byte for byte.
#include "files.hpp"
#include "lossless.hpp"
#include "ptx/body.hpp"

#include <gmock/gmock.h>

namespace {

using namespace ptxasw;
using namespace ptxasw::ptx;

std::vector<std::filesystem::path> texts() {
  auto all = test::files_below("tests", ".ptx");
  for (auto& path : test::files_below("bench", ".ptx"))
    all.push_back(std::move(path));
  return all;
}

class RoundTrip : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(RoundTrip, IsComplete) {
  const std::string text = test::read_file(GetParam());
  const Module module = parse(text, GetParam().filename());
  test::expect_lossless(module, text);
  test::expect_understood(module);
}

TEST_P(RoundTrip, WithCarriageReturns) {
  std::string text;
  for (const char c : test::read_file(GetParam()))
    text += c == '\n' ? "\r\n" : std::string(1, c);
  const Module module = parse(text, GetParam().filename());
  test::expect_lossless(module, text);
  test::expect_understood(module);
}

TEST_P(RoundTrip, BodiesResolve) {
  const Module module = parse(test::read_file(GetParam()), GetParam().filename());
  for (const Function& function : module.functions) {
    const Body body = resolve(module, function);
    for (const Diagnostic& d : body.diagnostics)
      ADD_FAILURE() << render(d, *module.text, module.lines, module.file);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, RoundTrip, testing::ValuesIn(texts()),
                         [](const auto& file) { return test::test_name(file.param); });

TEST(Print, EditsReplaceInsertAndDelete) {
  const Module module = parse("ret;\nexit; // done\n");
  const Range exit = module.statements[1].range;
  const std::vector<Edit> edits{
      {exit, "trap;"}, {{0, 0}, "a"}, {{exit.begin, exit.begin}, "b"}, {{0, 0}, "c"}, {{4, 5}, ""}};
  EXPECT_EQ(print(module, edits), "acret;btrap; // done\n");
  EXPECT_EQ(print(module, {}), "ret;\nexit; // done\n");
}

TEST(Print, EmptyTexts) {
  EXPECT_EQ(print(parse("")), "");
  EXPECT_EQ(print(parse(" // nothing")), " // nothing");
  EXPECT_EQ(print(Module{}), "");
}

} // namespace
