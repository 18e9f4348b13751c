// The search for ptxas' choice, with an assembler of our own and with the real one.
#include "passes/pin_fma/search.hpp"

#include "driver/find_ptxas.hpp"
#include "driver/ptxas.hpp"
#include "oracle/fake.hpp"
#include "passes/shared/spread.hpp"
#include "sass/machine_code.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <map>

namespace ptxasw::manager {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// An ELF file with one .text section.
std::string elf(const std::string& kernel, const std::string& code) {
  const std::string names = std::string("\0.text.", 7) + kernel + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shoff = sizeof header;
  header.e_shnum = 2;
  header.e_shstrndx = 0;
  Elf64_Shdr sections[2]{};
  sections[0].sh_offset = sizeof header + sizeof sections;
  sections[0].sh_size = names.size();
  sections[1].sh_name = 1;
  sections[1].sh_offset = sections[0].sh_offset + names.size();
  sections[1].sh_size = code.size();
  std::string bytes(sizeof header + sizeof sections, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, sections, sizeof sections);
  return bytes + names + code;
}

TEST(MachineCode, ReadsTextSections) {
  const auto code = sass::machine_code(elf("k", "abcdef"));
  ASSERT_EQ(code.size(), 1U);
  EXPECT_EQ(code.at("k"), "abcdef");
}

TEST(MachineCode, SurvivesEveryTruncationAndGarbage) {
  const std::string whole = elf("k", "abcdef");
  for (std::size_t size = 0; size < whole.size(); ++size)
    sass::machine_code(std::string_view(whole).substr(0, size));
  EXPECT_TRUE(sass::machine_code("garbage").empty());
  EXPECT_TRUE(sass::machine_code(whole.substr(0, 40)).empty());
}

constexpr const char* kernel = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k()
{
.reg .f32 %f<9>;
mul.f32 %f3, %f1, %f2;
mul.f32 %f6, %f4, %f5;
add.f32 %f7, %f3, %f6;
ret;
}
)";

TEST(ContractionSearch, TheSameBytesAreEnough) {
  oracle::FakeAssembler same([](const AssemblyRequest&) {
    return Assembled{elf("k", "same"), ""};
  });
  const passes::Pinning found = passes::pin_contractions(ptx::parse(kernel), {"k", "absent"}, same);
  EXPECT_EQ(found.kernels.at("k").refused.text, "");
  EXPECT_TRUE(found.kernels.at("k").identical);
  EXPECT_NE(found.kernels.at("absent").refused.text, "");
  ASSERT_TRUE(found.module);
  EXPECT_NE(found.module->text->find("add.rn.f32"), std::string::npos);
  EXPECT_EQ(found.reads, 0U);
  ASSERT_EQ(same.asked.size(), 2U);
  EXPECT_TRUE(same.asked[0].line_info && same.asked[1].line_info);
}

TEST(ContractionSearch, OtherBytesOfWhichNothingIsKnownAreNot) {
  int runs = 0;
  oracle::FakeAssembler always_new([&](const AssemblyRequest&) {
    return Assembled{elf("k", std::to_string(++runs)), ""};
  });
  const passes::Pinning found = passes::pin_contractions(ptx::parse(kernel), {"k"}, always_new);
  EXPECT_NE(found.kernels.at("k").refused.text, "");
  EXPECT_FALSE(found.module);
  EXPECT_EQ(runs, 2);
  oracle::FakeAssembler refuses(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return std::nullopt; });
  EXPECT_NE(
      passes::pin_contractions(ptx::parse(kernel), {"k"}, refuses).kernels.at("k").refused.text,
      "");
}

TEST(ContractionSearch, SpreadGivesEachInstructionALine) {
  const ptx::Module module =
      ptx::parse("# 5 \"x.cu\"\n.version 8.0\n.target sm_90\n"
                 ".address_size 64\n.visible .entry k()\n{ .reg .f32 %f<3>;\n"
                 "{ neg.f32 %f1, %f2; @!%p abs.f32 %f2, %f1; }\nret; }\n",
                 "k.ptx");
  const ptx::Module made = passes::spread(module);
  const std::string& text = *made.text;
  EXPECT_EQ(text.find("# 5"), std::string::npos);
  EXPECT_NE(text.find("\n@!%p abs"), std::string::npos);
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(*module.text, '\n') + 2)
      << "one more behind a brace, which does no harm";
}

// Every golden kernel with multiply-adds: which ones ptxas fuses is found at the first try.
TEST(ContractionSearch, RealPtxas) {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({"", ""}, environment);
  if (!found) GTEST_SKIP() << "no ptxas: " << found.error();
  driver::Ptxas ptxas(*found, "sm_90");
  const std::map<std::string, std::vector<std::string>> kernels{
      {"whispering", {"whispering"}},
      {"hypterm", {"hypterm_x", "hypterm_y", "hypterm_z"}},
      {"derivative", {"derivative"}},
      {"rhs4th3fort", {"rhs4th3fort"}},
      {"wave13pt", {"wave13pt"}}};
  for (const auto& [file, names] : kernels) {
    const ptx::Module module =
        ptx::parse(read(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + file + ".ptx"), file);
    const passes::Pinning made = passes::pin_contractions(module, names, ptxas);
    ASSERT_TRUE(made.module) << file;
    EXPECT_EQ(made.reads, 0U) << file;
    for (const auto& [name, pinned] : made.kernels) {
      EXPECT_EQ(pinned.refused.text, "") << name;
      EXPECT_GT(pinned.sites, 0U) << name;
    }
  }
}

} // namespace
} // namespace ptxasw::manager
