// The search for ptxas' choice, with an assembler of our own and with the real one.
#include "pipeline/contraction_search.hpp"

#include "driver/find_ptxas.hpp"
#include "driver/ptxas.hpp"
#include "machine/fake.hpp"
#include "machine/machine_code.hpp"
#include "source_dir.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

namespace ptxasw::pipeline {
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
  const auto code = machine::machine_code(elf("k", "abcdef"));
  ASSERT_EQ(code.size(), 1U);
  EXPECT_EQ(code.at("k"), "abcdef");
}

TEST(MachineCode, SurvivesEveryTruncationAndGarbage) {
  const std::string whole = elf("k", "abcdef");
  for (std::size_t size = 0; size < whole.size(); ++size)
    machine::machine_code(std::string_view(whole).substr(0, size));
  EXPECT_TRUE(machine::machine_code("garbage").empty());
  EXPECT_TRUE(machine::machine_code(whole.substr(0, 40)).empty());
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

// An assembler that fuses the second product where it may choose.
std::optional<Assembled> fuses_second(const AssemblyRequest& request) {
  const bool is_free = request.text.find("add.f32") != std::string::npos;
  const bool second = request.text.find("fma.rn.f32 %f7, %f4, %f5, %f3") != std::string::npos;
  return Assembled{elf("k", is_free || second ? "second" : "other"), ""};
}

TEST(ContractionSearch, FindsTheChoiceThatGivesTheSameCode) {
  machine::FakeAssembler fake(fuses_second);
  const auto found = find_contractions(kernel, "k.ptx", {"k"}, fake);
  ASSERT_TRUE(found.contains("k"));
  EXPECT_EQ(found.at("k"), Contraction::second);
  EXPECT_TRUE(find_contractions(kernel, "k.ptx", {"absent"}, fake).empty());
}

TEST(ContractionSearch, FindsNothingWhereNoChoiceMatches) {
  int runs = 0;
  machine::FakeAssembler always_new([&](const AssemblyRequest&) {
    return Assembled{elf("k", std::to_string(++runs)), ""};
  });
  EXPECT_TRUE(find_contractions(kernel, "k.ptx", {"k"}, always_new).empty());
  EXPECT_EQ(runs, 4);
  machine::FakeAssembler refuses(
      [](const AssemblyRequest&) -> std::optional<Assembled> { return std::nullopt; });
  EXPECT_TRUE(find_contractions(kernel, "k.ptx", {"k"}, refuses).empty());
}

TEST(ContractionSearch, RealPtxas) {
  auto environment = driver::Environment::current();
  const auto found = driver::find_ptxas({"", ""}, environment);
  if (!found) GTEST_SKIP() << "no ptxas: " << found.error();
  driver::Ptxas ptxas(*found, "sm_90");
  const std::string text = read(PTXASW_SOURCE_DIR "/tests/golden/ptx/whispering.ptx");
  EXPECT_TRUE(find_contractions(text, "w.ptx", {"whispering"}, ptxas).contains("whispering"));
}

} // namespace
} // namespace ptxasw::pipeline
