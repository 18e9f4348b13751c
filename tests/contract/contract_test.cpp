// A contract comes back as it was written, and nothing else comes back at all.
#include "contract/contract.hpp"
#include "words/hash.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

namespace ptxasw::contract {
namespace {

Contract example() {
  return {.kernel = "_Z6jacobiPf",
          .code = 0xfedcba9876543210,
          .parameters = 5,
          .parameter_bytes = 36,
          .places = {{0, 8}, {8, 8}, {16, 8}, {24, 8}, {32, 4}},
          .accesses = {{.count = 3, .bytes = 4, .along = {far_apart, 4, 0}},
                       {.count = 1, .bytes = 8, .along = {-8, far_apart, 1LL << 33}}},
          .variants = {{.entry = "_Z6jacobiPf", .name = "standard", .kind = Kind::rewritten},
                       {.entry = "_Z6jacobiPf__ptxasw_original", .name = "original"},
                       {.entry = "_Z6jacobiPf__ptxasw_x2y4",
                        .name = "x:2,y:4",
                        .kind = Kind::coarsened,
                        .divide = {2, 4, 1},
                        .rest = contract::Rest::hangs_over,
                        .gains = {{64, {1.25, 1, 1, 1, 1, 1, 1, 1, 2}}, {256, {0.5}}}},
                       {.entry = "_Z6jacobiPf__ptxasw_reshaped",
                        .name = "block:32x8x1",
                        .kind = Kind::reshaped,
                        .rest = Rest::reshaped,
                        .block = {32, 8, 0}},
                       {.entry = "_Z6jacobiPf__ptxasw_thread_swap32",
                        .name = "thread-swap:32",
                        .kind = Kind::remapped,
                        .rows = {32, 1}}},
          .steps = {{.entry = "_Z6jacobiPf__ptxasw_steps5",
                     .count = 5,
                     .swaps = {{0, 1}, {3, 2}},
                     .block = {64, 4, 1},
                     .covers = {54, 54, 1},
                     .blocks_each = 4,
                     .conditions = {{*to_expression("p4s32,-1,+,tx,min"), "it is small"}},
                     .touched = {{0, true, *to_expression("0"), *to_expression("p4s32,4,*")}}},
                    {.entry = "_Z6jacobiPf__ptxasw_steps3",
                     .count = 3,
                     .swaps = {{0, 1}},
                     .in_line = {.threads = true}}}};
}

// With the checksum that fits it.
std::string signed_again(std::string body) {
  char line[80];
  std::snprintf(line, sizeof line, "ptxasw-launch 20 %zu %016llx\n", body.size(),
                static_cast<unsigned long long>(words::hash(body)));
  return line + body;
}

std::string body_of(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

TEST(Contract, ComesBack) {
  const auto read = decode(encode(example()));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, example());
  EXPECT_EQ(signed_again(body_of(encode(example()))), encode(example()));
}

TEST(Contract, SaysOfWhichTextItIs) {
  Contract told = example();
  told.text = 0xfeed;
  const auto read = decode(encode(told));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, told);
}

TEST(Contract, MayBePadded) {
  EXPECT_TRUE(decode(encode(example()) + std::string(8, '\0')));
}

TEST(Contract, TheOriginalGridIsAligned) {
  EXPECT_EQ(grid_offset({.parameter_bytes = 36}), 36U);
  EXPECT_EQ(grid_offset({.parameter_bytes = 33}), 36U);
  EXPECT_EQ(grid_offset({}), 0U);
}

TEST(Contract, OfAnotherVersionIsRefused) {
  std::string text = encode(example());
  text.replace(0, 16, "ptxasw-launch 12");
  const auto read = decode(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), "of version 12, which is not 20");
}

TEST(Contract, DamagedIsRefused) {
  const std::string text = encode(example());
  std::mt19937 random(1);
  unsigned refused = 0;
  for (unsigned n = 0; n < 4000; ++n) {
    std::string damaged = text;
    switch (n % 3) {
    case 0: damaged[random() % damaged.size()] ^= static_cast<char>(1U << (random() % 8)); break;
    case 1: damaged.resize(random() % damaged.size()); break;
    case 2: damaged.insert(random() % damaged.size(), 1, static_cast<char>(random())); break;
    }
    const auto read = decode(damaged);
    if (!read) {
      ++refused;
    } else {
      EXPECT_EQ(*read, example()) << n; // a byte put behind the end
    }
  }
  EXPECT_GT(refused, 3950U);
}

using Json = nlohmann::ordered_json;

// With `value`, in JSON, at a place of the example; empty: without what is there. The checksum
// fits.
bool is_read_with(const std::string& place, const std::string& value) {
  Json all = Json::parse(body_of(encode(example())));
  const Json::json_pointer at(place);
  EXPECT_TRUE(all.contains(at)) << place;
  if (value.empty())
    all.at(at.parent_pointer()).erase(at.back());
  else
    all[at] = Json::parse(value);
  return decode(signed_again(all.dump())).has_value();
}

TEST(Contract, IsReadWithOtherWordsThatMakeSense) {
  for (const auto& [place, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/variants/2/name", R"("anything")"},
           {"/variants/2/rest", R"("none")"},
           {"/variants/2/rest", ""},
           {"/variants/2", R"({"entry": "e", "name": "n", "kind": "coarsened", "divide": [2, 1, 1],
                               "rest": "rest"})"},
           {"/variants/4/rows", R"([8, "z"])"},
           {"/variants/4/rows", ""},
           {"/accesses", ""},
           {"/accesses/0", R"({"count": 3, "bytes": 4, "along": [4, null, -8]})"},
           {"/steps/0/require", ""},
           {"/steps/0/require", "[]"},
       })
    EXPECT_TRUE(is_read_with(place, value)) << place << ' ' << value;
}

TEST(Contract, WordsThatNoModuleHasAreRefused) {
  for (const auto& [place, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/kernel", R"("another")"},
           {"/kernel", R"("a b")"},
           {"/kernel", "1"},
           {"/code", R"("fedcba987654321")"},
           {"/code", R"("fedcba987654321g")"},
           {"/code", "1"},
           {"/parameters", "5000"},
           {"/parameters", "6"},
           {"/parameters", "-1"},
           {"/parameters", "5.5"},
           {"/parameter_bytes", "1000000"},
           {"/places/0", "[0, 40]"},
           {"/places/0", "[0, 8, 8]"},
           {"/places/0", R"(["0", "8"])"},
           {"/places/0", "[4294967295, 8]"},
           {"/accesses/0/count", "0"},
           {"/accesses/0/bytes", "0"},
           {"/accesses/0/bytes", "65"},
           {"/accesses/0/along", R"(["near", 4, 0])"},
           {"/accesses/0/along", "[null, 4]"},
           {"/accesses/0/along", "[null, 4, 0, 0]"},
           {"/accesses/0/along/1", "8589934592000"},
           {"/variants", ""},
           {"/variants", "{}"},
           {"/variants/0/entry", R"("other")"},
           {"/variants/0/kind", R"("merged")"},
           {"/variants/0/kind", ""},
           {"/variants/2/divide", "[0, 4, 1]"},
           {"/variants/2/divide", "[32, 4, 1]"},
           {"/variants/2/divide", "[4294967295, 4294967295, 1]"},
           {"/variants/2/divide", "[2, 4]"},
           {"/variants/2/rest", R"("rest")"}, // blocks of one axis only
           {"/variants/2/rest", R"("others")"},
           {"/variants/2", R"({"entry": "e", "name": "n", "kind": "coarsened", "divide": [1, 1, 1],
                               "rest": "rest"})"},
           {"/variants/2/gains/0/0", "512"}, // they ascend
           {"/variants/2/gains/0/1/0", "-1"},
           {"/variants/2/gains/0/1/0", "null"},
           {"/variants/2/gains/0/1/0", "1e9"},
           {"/variants/2/gains/0/1/0", R"("1")"},
           {"/variants/2/gains/0/1", "[1, 1]"},
           {"/variants/3/divide", "[2, 1, 1]"},
           {"/variants/3/block", "[0, 8, 0]"},
           {"/variants/3/block", "[32, 64, 0]"},
           {"/variants/3/block", "[1, 1, 128]"},
           {"/variants/3/block", "[32, 8]"},
           {"/variants/3/block", ""},
           {"/variants/4/rows", R"([0, "y"])"},
           {"/variants/4/rows", R"([1, "y"])"},
           {"/variants/4/rows", R"([64, "y"])"},
           {"/variants/4/rows", R"([32, "x"])"},
           {"/variants/4/rows", R"([32, "w"])"},
           {"/variants/4/rows", "[32]"},
           {"/variants/4/rows", R"([32, "y", 1])"},
           {"/variants/4/kind", R"("rewritten")"}, // rows of a kernel whose threads stay
           {"/variants/1", R"({"entry": "k", "name": "n", "kind": "original", "divide": [1, 1, 1],
                               "waits": 1})"},
           {"/steps/0/count", "4"},
           {"/steps/0/count", "1"},
           {"/steps/0/swap/1", R"(["3", "1"])"},
           {"/steps/0/swap/1", R"(["3", "4"])"}, // not as wide as a pointer
           {"/steps/0/swap/0", R"(["0", "0"])"},
           {"/steps/0/swap/0", R"(["0"])"},
           {"/steps/0/swap", ""},
           {"/steps/0/block", "[64, 64, 1]"},
           {"/steps/0/covers", "[54, 0, 1]"},
           {"/steps/0/blocks_each", "0"},
           {"/steps/0/require/0/0", R"("p5s32,-1,+,tx,min")"},
           {"/steps/0/require/0/0", R"("p4s32,-1,+,tw,min")"},
           {"/steps/0/require/0/0", "7"},
           {"/steps/0/require/0/1", R"("")"},
           {"/steps/0/require/0", R"(["tx"])"},
           {"/steps/0/touch/0/1", R"("moves")"},
           {"/steps/0/touch/0", R"(["0", "writes", "0"])"},
           {"/steps/0", R"({"alike": true})"},
       })
    EXPECT_FALSE(is_read_with(place, value)) << place << ' ' << value;
  EXPECT_FALSE(decode(signed_again("")));
  EXPECT_FALSE(decode(signed_again("[]")));
  EXPECT_FALSE(decode(signed_again(std::string(most_bytes / 2, '['))));
}

TEST(Contract, TheGridOfAVariant) {
  Variant variant{.divide = {4, 1, 1}};
  const auto blocks = [&](unsigned axis, unsigned of) {
    const Blocks found = blocks_of(variant, axis, of);
    return std::pair{found.groups, found.alone};
  };
  EXPECT_EQ(blocks(0, 8), std::pair(2U, 0U));
  variant.rest = Rest::hangs_over;
  EXPECT_EQ(blocks(0, 11), std::pair(3U, 0U));
  variant.rest = Rest::by_itself;
  EXPECT_EQ(blocks(0, 11), std::pair(2U, 3U));
  EXPECT_EQ(blocks(0, 3), std::pair(0U, 3U));
  EXPECT_EQ(blocks(1, 11), std::pair(11U, 0U));
}

TEST(Contract, GainsAreInterpolated) {
  const Variant variant{
      .gains = {{64, {2, 1, 1, 1, 1, 1, 1, 1, 3}}, {256, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}};
  EXPECT_EQ(gain_of(variant, 32, 0.1), 2);
  EXPECT_EQ(gain_of(variant, 64, 0.25), 2);
  EXPECT_DOUBLE_EQ(gain_of(variant, 128, 0.25), 1.5);
  EXPECT_DOUBLE_EQ(gain_of(variant, 64, 0.25 * std::sqrt(2.0)), 1.5);
  EXPECT_EQ(gain_of(variant, 64, 3), 1);
  EXPECT_EQ(gain_of(variant, 64, 1000), 3);
  EXPECT_EQ(gain_of(variant, 1024, 1000), 1);
  EXPECT_EQ(gain_of({}, 128, 1), 0);
}

} // namespace
} // namespace ptxasw::contract
