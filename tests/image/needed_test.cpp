// What a program needed, as the store keeps it.
#include "image/needed.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ptxasw::image {
namespace {

namespace fs = std::filesystem;

class NeededTest : public testing::Test {
protected:
  NeededTest() {
    if (::mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
  }
  ~NeededTest() override { fs::remove_all(folder_); }
  NeededTest(const NeededTest&) = delete;
  NeededTest& operator=(const NeededTest&) = delete;

  std::string folder_ = (fs::temp_directory_path() / "ptxasw-needed-XXXXXX").string();
  const store::Key program_{1, 2};
  const Needed needed_{{{3, 4}, {~0ULL, 0}}, {"a\nb", std::string("c\0", 2)}};
};

TEST_F(NeededTest, IsFoundAsItWasKept) {
  EXPECT_FALSE(find_needed(folder_, program_));
  ASSERT_TRUE(keep_needed(folder_, program_, needed_));
  EXPECT_EQ(find_needed(folder_, program_), needed_);
  EXPECT_FALSE(find_needed(folder_, {2, 1}));
  ASSERT_TRUE(keep_needed(folder_, program_, {}));
  EXPECT_EQ(find_needed(folder_, program_), Needed());
}

TEST_F(NeededTest, IsNotFoundWhereItIsBroken) {
  ASSERT_TRUE(keep_needed(folder_, program_, needed_));
  for (const auto& file : fs::recursive_directory_iterator(folder_))
    if (file.is_regular_file()) std::ofstream(file.path(), std::ios::app) << "more";
  EXPECT_FALSE(find_needed(folder_, program_));
}

TEST_F(NeededTest, NeedsAFolder) {
  EXPECT_FALSE(keep_needed("", program_, needed_));
  EXPECT_FALSE(find_needed("", program_));
}

TEST_F(NeededTest, BelongsToTheProgram) {
  EXPECT_EQ(program_of_process(), program_of_process());
  const store::Key none{};
  EXPECT_NE(program_of_process(), none);
}

} // namespace
} // namespace ptxasw::image
