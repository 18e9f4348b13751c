// Entries, the folder that holds them, and who may be believed.
#include "store/store.hpp"
#include "store/usage.hpp"

#include "folder_of_its_own.hpp"
#include "store/seal.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

namespace ptxasw::store {
namespace {

constexpr Kind kept_texts{"texts", 7};

class StoreTest : public testing::Test {
protected:
  // The only entry.
  [[nodiscard]] std::string entry() const {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path))
      if (file.is_regular_file() && file.path().filename() != "counters") return file.path();
    return {};
  }
  static void overwrite(const std::string& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  FolderOfItsOwn folder;
  Settings settings{.folder = folder.path + "/store"};
  Key key = key_of({"question"});
};

TEST(Keys, TellPartsApart) {
  EXPECT_EQ(key_of({"ab", "c"}), key_of({"ab", "c"}));
  EXPECT_NE(key_of({"ab", "c"}), key_of({"a", "bc"}));
  EXPECT_NE(key_of({"ab"}), key_of({"ab", ""}));
  EXPECT_EQ(hexadecimal({0x0123456789abcdef, 0xf}), "0123456789abcdef000000000000000f");
}

TEST(Entries, EveryChangeOfABitShows) {
  const Key key = key_of({"k"});
  const std::string good = pack(kept_texts, key, "some bytes", {});
  ASSERT_EQ(unpack(kept_texts, key, good, {})->bytes, "some bytes");
  const std::size_t sealed_from = 96;
  for (std::size_t n = 0; n < 8 * good.size(); ++n) {
    if (n / 8 >= sealed_from && n / 8 < header_size) continue; // counts with a secret only
    std::string wrong = good;
    wrong[n / 8] = static_cast<char>(wrong[n / 8] ^ (1 << (n % 8)));
    EXPECT_FALSE(unpack(kept_texts, key, wrong, {})) << "bit " << n;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(unpack(kept_texts, key, good.substr(0, size), {})) << size;
  EXPECT_FALSE(unpack(kept_texts, key, good + "x", {}));
  EXPECT_FALSE(unpack({"texts", 8}, key, good, {}));
  EXPECT_FALSE(unpack({"text", 7}, key, good, {}));
  EXPECT_FALSE(unpack(kept_texts, key_of({"other"}), good, {}));
}

TEST(Entries, AreSealedByWhoKnowsTheSecret) {
  if (!can_seal()) GTEST_SKIP() << "built without libnettle";
  const Key key = key_of({"k"});
  const std::string good = pack(kept_texts, key, "some bytes", "secret");
  EXPECT_TRUE(unpack(kept_texts, key, good, "secret")->sealed);
  EXPECT_FALSE(unpack(kept_texts, key, good, "other")->sealed);
  EXPECT_FALSE(unpack(kept_texts, key, good, {})->sealed);
  EXPECT_FALSE(unpack(kept_texts, key, pack(kept_texts, key, "some bytes", {}), "secret")->sealed);
  std::string wrong = good;
  wrong[100] = static_cast<char>(wrong[100] ^ 1);
  EXPECT_FALSE(unpack(kept_texts, key, wrong, "secret")->sealed);
}

// RFC 4231, test case 2.
TEST(Seals, AreHmacSha256) {
  if (!can_seal()) GTEST_SKIP() << "built without libnettle";
  const Seal seal = seal_of({"what do ya want ", "for nothing?"}, "Jefe");
  EXPECT_EQ(seal[0], 0x5b);
  EXPECT_EQ(seal[1], 0xdc);
  EXPECT_EQ(seal[31], 0x43);
}

TEST_F(StoreTest, GivesWhatItGot) {
  Store store(settings);
  EXPECT_FALSE(store.get(kept_texts, key));
  store.put(kept_texts, key, std::string_view("an\0swer", 7));
  const auto found = Store(settings).get(kept_texts, key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, std::string_view("an\0swer", 7));
  EXPECT_TRUE(found->trusted);
  EXPECT_FALSE(store.get({"texts", 8}, key));
  EXPECT_FALSE(store.get({"others", 7}, key));
  store.put(kept_texts, key, "");
  EXPECT_EQ(store.get(kept_texts, key)->bytes, "");
}

TEST_F(StoreTest, HoldsEntriesOfMegabytesAndNoneThatIsTooLarge) {
  Store store(settings);
  const std::string large(std::size_t{9} << 20, 'x');
  store.put(kept_texts, key, large);
  EXPECT_EQ(store.get(kept_texts, key)->bytes, large);
  EXPECT_EQ(content(entry()).substr(header_size), large) << "as the header says";
  store.put(kept_texts, key_of({"larger"}), std::string(largest_entry + 1, 'x'));
  EXPECT_FALSE(store.get(kept_texts, key_of({"larger"})));
}

TEST_F(StoreTest, WithoutAFolderThereIsNone) {
  Store store(Settings{});
  store.put(kept_texts, key, "answer");
  EXPECT_FALSE(store.get(kept_texts, key));
}

TEST_F(StoreTest, CutAndChangedEntriesAreMissesAndGo) {
  for (const std::string_view wrong : {"", "garbage", "ptxasw decisions 2 00\nway k -\n"}) {
    Store store(settings);
    store.put(kept_texts, key, "answer");
    const std::string file = entry();
    overwrite(file, wrong);
    EXPECT_FALSE(store.get(kept_texts, key)) << wrong;
    EXPECT_FALSE(std::filesystem::exists(file));
    store.put(kept_texts, key, "answer");
    EXPECT_TRUE(store.get(kept_texts, key));
  }
}

TEST_F(StoreTest, WhatOthersCouldHaveWrittenIsNotTrusted) {
  Store store(settings);
  store.put(kept_texts, key, "answer");
  ::chmod(settings.folder.c_str(), 0777);
  ASSERT_TRUE(store.get(kept_texts, key));
  EXPECT_FALSE(store.get(kept_texts, key)->trusted);
  ::chmod(settings.folder.c_str(), 0700);
  EXPECT_TRUE(store.get(kept_texts, key)->trusted);
  ::chmod(entry().c_str(), 0666);
  EXPECT_FALSE(store.get(kept_texts, key)->trusted);
}

TEST_F(StoreTest, ALinkAFifoAndAFileInThePlaceOfAFolderAreMisses) {
  Store store(settings);
  store.put(kept_texts, key, "answer");
  const std::string file = entry();
  std::filesystem::rename(file, folder.path + "/elsewhere");
  std::filesystem::create_symlink(folder.path + "/elsewhere", file);
  EXPECT_FALSE(store.get(kept_texts, key));
  std::filesystem::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(store.get(kept_texts, key));
  std::filesystem::remove_all(settings.folder);
  overwrite(settings.folder, "a file");
  EXPECT_FALSE(store.get(kept_texts, key));
  store.put(kept_texts, key, "answer");
  EXPECT_EQ(content(settings.folder), "a file");
}

TEST_F(StoreTest, WhatWasNotUsedForLongestGoesFirst) {
  settings.limit = 64 << 10;
  Store store(settings);
  const std::string four_pages(3 * 4096, 'x'); // with its header
  const auto put = [&](unsigned n) {
    store.put(kept_texts, key_of({std::to_string(n)}), four_pages);
  };
  const auto has = [&](unsigned n) {
    return store.get(kept_texts, key_of({std::to_string(n)})).has_value();
  };
  const auto age_all = [&] {
    for (const auto& file : std::filesystem::recursive_directory_iterator(settings.folder))
      std::filesystem::last_write_time(file.path(),
                                       file.last_write_time() - std::chrono::seconds(10));
  };
  for (unsigned n = 0; n < 4; ++n, age_all())
    put(n);
  EXPECT_TRUE(has(0));
  put(4);
  EXPECT_TRUE(has(0));
  EXPECT_FALSE(has(1));
  EXPECT_TRUE(has(3));
  EXPECT_TRUE(has(4));
  EXPECT_LE(Folder(settings.folder, Folder::Users::owner, settings.limit).content().bytes,
            settings.limit);
}

TEST_F(StoreTest, WithoutItsCountersItIsCountedAnew) {
  settings.limit = 64 << 10;
  for (unsigned n = 0; n < 40; ++n) {
    Store(settings).put(kept_texts, key_of({std::to_string(n)}), std::string(4096, 'x'));
    if (n % 3 == 0) std::filesystem::remove(settings.folder + "/counters");
    if (n % 7 == 0) overwrite(settings.folder + "/counters", "bytes zero\nbytes\n 5\ngarbage");
  }
  EXPECT_LE(Folder(settings.folder, Folder::Users::owner, settings.limit).content().bytes,
            settings.limit);
}

TEST_F(StoreTest, CountsWhatItIsAsked) {
  Store store(settings);
  store.put(kept_texts, key, "answer");
  (void)store.get(kept_texts, key);
  (void)store.get(kept_texts, key);
  (void)store.get(kept_texts, key_of({"other"}));
  const Counts counts = Folder(settings.folder, Folder::Users::owner, 1).counts();
  EXPECT_EQ(counts.at("texts.hits"), 2);
  EXPECT_EQ(counts.at("texts.misses"), 1);
  EXPECT_EQ(counts.at("texts.written"), 1);
}

// Every process sees whole entries or none, none waits long, and nothing is left lying about.
TEST_F(StoreTest, ManyProcessesShareIt) {
  constexpr unsigned processes = 8, rounds = 60;
  std::vector<pid_t> children;
  for (unsigned p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Store store(settings);
      bool right = true;
      for (unsigned n = 0; n < rounds; ++n) {
        const std::string name = std::to_string(n % 5);
        const auto found = store.get(kept_texts, key_of({name}));
        right &= !found || found->bytes == std::string(20000, name[0]);
        store.put(kept_texts, key_of({name}), std::string(20000, name[0]));
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Folder made(settings.folder, Folder::Users::owner, 1);
  EXPECT_EQ(made.content().files, 5U);
  EXPECT_FALSE(made.counts().contains("texts.broken"));
  EXPECT_EQ(made.counts().at("texts.written"), processes * rounds);
}

TEST_F(StoreTest, AnotherThreadMayUseItToo) {
  Store store(settings);
  std::thread other([&] {
    for (unsigned n = 0; n < 50; ++n)
      store.put(kept_texts, key_of({std::to_string(n)}), "x");
  });
  for (unsigned n = 0; n < 50; ++n)
    (void)store.get(kept_texts, key_of({std::to_string(n)}));
  other.join();
  EXPECT_TRUE(store.get(kept_texts, key_of({"49"})));
}

TEST_F(StoreTest, AReadOnlyOrFullPlaceIsAMiss) {
  Settings wrong{.folder = "/proc/self/nothing"};
  Store store(wrong);
  store.put(kept_texts, key, "answer");
  EXPECT_FALSE(store.get(kept_texts, key));
  Store full(Settings{.folder = "/dev/full/store"});
  full.put(kept_texts, key, "answer");
  EXPECT_FALSE(full.get(kept_texts, key));
}

TEST(Usage, IsOfEachKind) {
  const auto usage = usage_of({{"bytes", 9},
                               {"decisions.hits", 3},
                               {"decisions.misses", 1},
                               {"decisions.of_later_versions", 7},
                               {"images.remote_hits", 2}});
  ASSERT_EQ(usage.size(), 2U);
  EXPECT_EQ(usage[0].kind, "decisions");
  EXPECT_EQ(usage[0].hits, 3);
  EXPECT_EQ(usage[0].asked(), 4);
  EXPECT_EQ(usage[1].kind, "images");
  EXPECT_EQ(usage[1].asked(), 2);
}

TEST(Settings, ComeFromTheEnvironment) {
  const auto with = [](std::map<std::string, std::string, std::less<>> variables) {
    return settings_from([variables](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  };
  EXPECT_EQ(with({{"HOME", "/h"}}).folder, "/h/.cache/ptxasw");
  EXPECT_EQ(with({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}}).folder, "/x/ptxasw");
  EXPECT_EQ(with({{"HOME", "relative"}}).folder, "");
  EXPECT_EQ(with({{"PTXASW_STORE_SIZE", "5G"}}).limit, std::uint64_t{5} << 30);
  EXPECT_EQ(with({{"PTXASW_STORE_SIZE", "100"}}).limit, 100U);
  EXPECT_EQ(with({{"PTXASW_STORE_SIZE", "many"}}).limit, std::uint64_t{1} << 30);
}

} // namespace
} // namespace ptxasw::store
