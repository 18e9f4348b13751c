// Fat binaries in ELF files, and the libraries of a program.
#include "image/program.hpp"

#include "image/mapped_file.hpp"
#include "recorded.hpp"
#include "store/folder_of_its_own.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ptxasw::image {
namespace {

const std::string data = PTXASW_SOURCE_DIR "/tests/image/data/";

TEST(Programs, AFatBinaryIsOneItself) {
  const auto file = MappedFile::open(data + "two.fatbin");
  ASSERT_TRUE(file);
  const auto found = fat_binaries_in(file->bytes());
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].image.size(), file->bytes().size());
  EXPECT_FALSE(MappedFile::open(data + "none"));
  EXPECT_FALSE(MappedFile::open("/dev/null"));
}

TEST(Programs, AllOfASectionAreFound) {
  const store::FolderOfItsOwn folder;
  const std::string both = folder.path + "/both", program = folder.path + "/program";
  std::ofstream(both, std::ios::binary)
      << recorded("zstd") << std::string(8, '\0') << recorded("older");
  const std::string command = "objcopy --add-section .nv_fatbin=" + both +
                              " --add-section __nv_relfatbin=" + data + "relocatable.fatbin " +
                              "/bin/true " + program + " 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no objcopy";
  const auto file = MappedFile::open(program);
  ASSERT_TRUE(file);
  auto found = fat_binaries_in(file->bytes());
  ASSERT_EQ(found.size(), 3);
  std::ranges::stable_sort(found, {}, &Embedded::is_relocatable); // objcopy orders sections itself
  EXPECT_EQ(found[0].image.size(), recorded("zstd").size());
  EXPECT_EQ(found[1].image.size(), recorded("older").size());
  EXPECT_EQ(found[1].offset - found[0].offset, recorded("zstd").size() + 8);
  EXPECT_FALSE(found[1].is_relocatable);
  EXPECT_TRUE(found[2].is_relocatable);
}

TEST(Programs, AProgramWithoutHasNone) {
  const auto file = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  EXPECT_TRUE(fat_binaries_in(file->bytes()).empty());
}

TEST(Libraries, AreThoseThatTheLoaderFinds) {
  const auto found = libraries_of(std::filesystem::canonical("/proc/self/exe"), {});
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(found, [&](const std::string& path) {
      return std::filesystem::path(path).filename().string().starts_with(name);
    });
  };
  EXPECT_TRUE(named("libc.so"));
  EXPECT_TRUE(named("libstdc++.so"));
}

TEST(Libraries, ThePathOfTheUserComesFirst) {
  const store::FolderOfItsOwn folder;
  const std::string own = folder.path + "/libc.so.6";
  const std::string program = std::filesystem::canonical("/proc/self/exe");
  std::filesystem::copy_file(program, own); // any ELF file
  EXPECT_THAT(libraries_of(program, {.library_path = "/nowhere:" + folder.path}),
              testing::Contains(own));
  std::filesystem::resize_file(own, 3);
  EXPECT_THAT(libraries_of(program, {.library_path = folder.path}),
              testing::Not(testing::Contains(own)));
}

} // namespace
} // namespace ptxasw::image
