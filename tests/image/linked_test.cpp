// What the launcher hands over of a linked cubin.
#include "image/linked.hpp"

#include "image/prepared.hpp"
#include "recorded.hpp"
#include "store/folder_of_its_own.hpp"

#include <gtest/gtest.h>

namespace ptxasw::image {
namespace {

const Linked linked_example{
    .options = "-lineinfo", .text = ".version 9.0\n", .cubin = "\177ELF..."};

TEST(LinkedImage, ComesBack) {
  const std::string whole = packed(linked_example);
  const auto parts = unpacked(bytes_of(whole));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->options, linked_example.options);
  EXPECT_EQ(parts->text, linked_example.text);
  EXPECT_EQ(parts->cubin, linked_example.cubin);
}

TEST(LinkedImage, EveryLengthIsChecked) {
  const std::string whole = packed(linked_example);
  for (std::size_t size = 0; size < whole.size() - linked_example.cubin.size(); ++size)
    EXPECT_FALSE(unpacked(bytes_of(whole.substr(0, size)))) << size;
  for (std::size_t at = 16; at < 32; ++at) {
    std::string changed = whole;
    changed[at] = '\xff';
    EXPECT_FALSE(unpacked(bytes_of(changed))) << at;
  }
  EXPECT_FALSE(unpacked(bytes_of("\177ELF")));
}

TEST(LinkedImage, IsKnownByItsMachineCode) {
  EXPECT_EQ(key_of(bytes_of(packed(linked_example)), "sm_90"),
            key_of(bytes_of(std::string(linked_example.cubin)), "sm_90"));
  Linked other = linked_example;
  other.text = ".version 8.0\n";
  EXPECT_EQ(key_of(bytes_of(packed(other)), "sm_90"),
            key_of(bytes_of(packed(linked_example)), "sm_90"));
  other.cubin = "\177ELF.,.";
  EXPECT_NE(key_of(bytes_of(packed(other)), "sm_90"),
            key_of(bytes_of(packed(linked_example)), "sm_90"));
}

TEST(LinkedImage, SizesThatWerePrepared) {
  const store::FolderOfItsOwn folder;
  EXPECT_FALSE(has_size(folder.path, 4711));
  EXPECT_TRUE(keep_size(folder.path, 4711));
  EXPECT_TRUE(keep_size(folder.path, 4711));
  EXPECT_TRUE(has_size(folder.path, 4711));
  EXPECT_FALSE(has_size(folder.path, 471));
  EXPECT_FALSE(has_size("", 4711));
  EXPECT_FALSE(keep_size(folder.path + "/nowhere", 4711));
}

} // namespace
} // namespace ptxasw::image
