// What is said of a driver's compiler, and how it is kept.
#include "image/compiled.hpp"

#include "image/entry.hpp"
#include "recorded.hpp"
#include "sass/cubin.hpp"
#include "store/folder_of_its_own.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <sys/stat.h>

namespace ptxasw::image {
namespace {

namespace fs = std::filesystem;

std::string code_of(const std::string& name) {
  const std::string image = recorded(name);
  return body_of(*choose(probe(bytes_of(image)), {90}).code).value_or("");
}

std::string with_changed(std::string cubin, std::string_view section) {
  const sass::Cubin parts(cubin);
  const std::string_view bytes = parts.find(section)->bytes;
  cubin[static_cast<std::size_t>(bytes.data() - cubin.data()) + bytes.size() - 1] ^= 1;
  return cubin;
}

TEST(Fingerprint, IsOfWhatALaunchDependsOn) {
  const std::string cubin = code_of("plain"), mark = fingerprint(cubin);
  EXPECT_EQ(mark.size(), 32);
  EXPECT_EQ(fingerprint(code_of("zstd")), mark);
  EXPECT_EQ(fingerprint(with_changed(cubin, ".note.nv.tkinfo")), mark);
  for (const char* section :
       {".text.scale", ".nv.info.weigh", ".nv.info", ".nv.constant0.scale", ".nv.constant3"})
    EXPECT_NE(fingerprint(with_changed(cubin, section)), mark) << section;
  EXPECT_EQ(fingerprint(""), "");
  EXPECT_EQ(fingerprint("\177ELF"), "");
}

class AgreementTest : public testing::Test {
protected:
  store::FolderOfItsOwn folder;
  const ImageKey key{1, 2};
};

TEST_F(AgreementTest, IsFoundForTheSameThreeOnly) {
  EXPECT_FALSE(find_agreement(folder.path, key, "linked", "driver"));
  ASSERT_TRUE(keep_agreement(folder.path, key, "linked", "driver", true));
  ASSERT_TRUE(keep_agreement(folder.path, key, "linked", "other", false));
  EXPECT_EQ(find_agreement(folder.path, key, "linked", "driver"), true);
  EXPECT_EQ(find_agreement(folder.path, key, "linked", "other"), false);
  EXPECT_FALSE(find_agreement(folder.path, key, "linke", "ddriver"));
  EXPECT_FALSE(find_agreement(folder.path, {1, 3}, "linked", "driver"));
  EXPECT_FALSE(find_agreement("", key, "linked", "driver"));
  EXPECT_FALSE(keep_agreement("", key, "linked", "driver", true));
}

TEST_F(AgreementTest, ThatOthersMayHaveWrittenIsNone) {
  ASSERT_TRUE(keep_agreement(folder.path, key, "linked", "driver", true));
  for (const auto& file : fs::recursive_directory_iterator(folder.path)) {
    if (file.is_regular_file() && file.path().filename().string().size() == 32) {
      ASSERT_EQ(::chmod(file.path().c_str(), 0666), 0);
    }
  }
  EXPECT_FALSE(find_agreement(folder.path, key, "linked", "driver"));
}

} // namespace
} // namespace ptxasw::image
