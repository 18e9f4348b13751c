// What a program needed when it ran before is there before it asks.
#include "images_fixture.hpp"

#include "launch/images/ahead.hpp"

#include <chrono>
#include <thread>

namespace ptxasw::launch {
namespace {

using namespace std::chrono_literals;

class AheadTest : public testing::Test {
protected:
  AheadTest() {
    prepared_.reason = image::Reason::none;
    prepared_.cubin = "machine code";
    prepared_.kernels = {{"k", 2, image::Reason::none, ""}};
    prepared_.chip = "sm_90";
    keep();
  }
  ~AheadTest() override { std::filesystem::remove_all(store_); }
  AheadTest(const AheadTest&) = delete;
  AheadTest& operator=(const AheadTest&) = delete;
  void keep() const { EXPECT_TRUE(image::keep(store_, 1 << 30, key_, prepared_)); }
  // As a process that runs the program.
  void run(const std::string& text) const {
    Ahead ahead(store_);
    EXPECT_TRUE(ahead.find(key_));
    (void)ahead.decode(text);
    ahead.keep();
  }
  static void wait(const Ahead& ahead) {
    for (int n = 0; n < 2000 && !ahead.is_done(); ++n)
      std::this_thread::sleep_for(5ms);
    EXPECT_TRUE(ahead.is_done());
  }
  [[nodiscard]] image::Needed needed() const {
    return image::find_needed(store_, image::program_of_process()).value_or(image::Needed());
  }

  const std::string store_ = folder() + "/ahead";
  const image::ImageKey key_{17, 18};
  image::Prepared prepared_;
  const std::string text_ = contract::encode(test::contract_of("k"));
};

TEST_F(AheadTest, IsThereBeforeItIsAskedFor) {
  run(text_);
  Ahead ahead(store_);
  wait(ahead);
  std::filesystem::remove_all(store_); // so it cannot be looked up any more
  EXPECT_EQ(ahead.find(key_), prepared_);
  EXPECT_FALSE(ahead.find(key_)); // once
  EXPECT_EQ(contract::encode(*ahead.decode(text_)), text_);
  EXPECT_EQ(contract::encode(*ahead.decode(text_)), text_);
  EXPECT_EQ(ahead.used(), 3U);
}

TEST_F(AheadTest, LooksUpWhatWasNotNeededBefore) {
  run(text_);
  Ahead ahead(store_);
  wait(ahead);
  EXPECT_FALSE(ahead.find({1, 2}));
  const std::string other = contract::encode(test::contract_of("other"));
  EXPECT_EQ(ahead.decode(other)->kernel, "other");
  EXPECT_EQ(ahead.decode(text_ + "x")->kernel, "k"); // other bytes
  EXPECT_FALSE(ahead.decode("no contract"));
  EXPECT_EQ(ahead.used(), 0U);
}

TEST_F(AheadTest, AsksTheStoreWhereNothingIsKnown) {
  Ahead ahead(store_);
  EXPECT_EQ(ahead.find(key_), prepared_);
  EXPECT_EQ(ahead.decode(text_)->kernel, "k");
  EXPECT_EQ(ahead.used(), 0U);
  Ahead nowhere("");
  EXPECT_FALSE(nowhere.find(key_));
  EXPECT_EQ(nowhere.decode(text_)->kernel, "k");
  nowhere.keep();
}

TEST_F(AheadTest, KeepsWhatSeveralRunsNeeded) {
  run(text_);
  const std::string other = contract::encode(test::contract_of("other"));
  run(other);
  EXPECT_EQ(needed().images, std::set<image::ImageKey>{key_});
  EXPECT_THAT(needed().contracts, testing::UnorderedElementsAre(text_, other));
}

TEST_F(AheadTest, ForgetsWhatIsTooMuch) {
  image::Needed full;
  for (std::size_t n = 0; n < image::most_needed_contracts; ++n)
    full.contracts.insert(std::to_string(n));
  ASSERT_TRUE(image::keep_needed(store_, image::program_of_process(), full));
  run(text_);
  EXPECT_THAT(needed().contracts, testing::ElementsAre(text_));
}

} // namespace
} // namespace ptxasw::launch
