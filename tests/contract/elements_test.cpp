// Elements by their addresses, and kernels that copy them.
#include "contract/elements.hpp"

#include "contract/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace ptxasw::contract::elements_test {
namespace {

Expression expression(std::string_view word) {
  const auto made = to_expression(word);
  EXPECT_TRUE(made) << word;
  return made.value_or(Expression{});
}

std::set<std::uint64_t> bytes_of(const PlacedElements& elements) {
  std::set<std::uint64_t> all{elements.first};
  for (const auto& [stride, count] : elements.along) {
    std::set<std::uint64_t> more;
    for (const std::uint64_t at : all)
      for (std::uint64_t n = 0; n < count; ++n)
        more.insert(at + n * stride);
    all = std::move(more);
  }
  std::set<std::uint64_t> bytes;
  for (const std::uint64_t at : all)
    for (std::uint64_t n = 0; n < elements.bytes; ++n)
      bytes.insert(at + n);
  return bytes;
}

// Rows of the interior of a plane of nx by ny words.
PlacedElements box(std::uint64_t nx, std::uint64_t x, std::uint64_t y, std::uint64_t width,
                   std::uint64_t height, bool merges) {
  const Quantities none{.parameter = [](unsigned) { return std::nullopt; }};
  const auto word = [](std::uint64_t n) { return expression(std::to_string(n)); };
  const Elements elements{.bytes = 4,
                          .begin = word(4 * (y * nx + x)),
                          .along = {{word(4), word(width)}, {word(4 * nx), word(height)}}};
  return place(elements, none, 0x1000, merges).value();
}

TEST(Elements, OneBehindTheOtherAreOne) {
  EXPECT_EQ(box(7, 0, 0, 7, 5, true), (PlacedElements{0x1000, 140, {}}));
  EXPECT_EQ(box(7, 1, 2, 5, 3, true), (PlacedElements{0x1000 + 60, 20, {{28, 3}}}));
  EXPECT_EQ(box(7, 1, 2, 5, 3, false), (PlacedElements{0x1000 + 60, 4, {{4, 5}, {28, 3}}}));
  EXPECT_EQ(box(7, 3, 2, 1, 1, false), (PlacedElements{0x1000 + 68, 4, {}}));
  EXPECT_EQ(box(7, 1, 2, 5, 3, true).end(), 0x1000U + 60 + 2 * 28 + 20);
  EXPECT_TRUE(box(7, 0, 0, 7, 5, true).is_whole());
  EXPECT_FALSE(box(7, 0, 0, 6, 5, true).is_whole());
}

TEST(Elements, AreAmongOthers) {
  EXPECT_TRUE(contains(box(7, 1, 1, 5, 3, true), box(7, 1, 1, 5, 3, false)));
  EXPECT_TRUE(contains(box(7, 0, 0, 7, 5, true), box(7, 1, 1, 5, 3, false)));
  EXPECT_FALSE(contains(box(7, 1, 1, 5, 3, true), box(7, 0, 1, 5, 3, false)));
  EXPECT_FALSE(contains(box(7, 1, 1, 5, 3, true), box(7, 1, 1, 6, 3, false)));
  EXPECT_FALSE(contains(box(7, 1, 1, 5, 3, true), box(7, 1, 1, 5, 4, false)));
  EXPECT_FALSE(contains(box(7, 1, 1, 5, 3, true), box(7, 1, 0, 5, 3, false)));
  EXPECT_FALSE(contains(box(7, 1, 1, 5, 3, true), box(8, 1, 1, 5, 3, false))) << "other rows";
  EXPECT_TRUE(contains(box(7, 0, 0, 7, 5, true), box(8, 1, 1, 5, 3, false))) << "all bytes";
}

// What is said to be among others is.
TEST(Elements, AreAmongOthersOnlyIfTheirBytesAre) {
  std::mt19937 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  unsigned among = 0, missed = 0;
  for (unsigned n = 0; n < 20000; ++n) {
    const auto any = [&](bool merges) {
      const std::uint64_t nx = 6 + below(2), x = below(3), y = below(3);
      return box(nx, x, y, 1 + below(nx - x + 2), 1 + below(5), merges);
    };
    const PlacedElements all = any(below(2) == 0), some = any(false);
    const auto a = bytes_of(all), b = bytes_of(some);
    const bool is_among = std::ranges::includes(a, b);
    if (contains(all, some)) {
      ++among;
      ASSERT_TRUE(is_among);
    } else if (is_among) {
      ++missed;
    }
  }
  EXPECT_GT(among, 1000U);
  EXPECT_LT(missed, among / 2);
}

TEST(Elements, ThatAreNotKnownAreNone) {
  const Quantities quantities{.parameter = [](unsigned number) -> std::optional<std::uint64_t> {
    return number == 0 ? std::optional<std::uint64_t>(5) : std::nullopt;
  }};
  const auto placed = [&](const char* begin, const char* stride, const char* count) {
    return place({4, expression(begin), {{expression(stride), expression(count)}}}, quantities, 100,
                 false)
        .has_value();
  };
  EXPECT_TRUE(placed("p0s32", "4", "p0s32"));
  EXPECT_FALSE(placed("p1s32", "4", "5"));
  EXPECT_FALSE(placed("0", "p1s32", "5"));
  EXPECT_FALSE(placed("0", "4", "p1s32"));
  EXPECT_FALSE(placed("0", "-4", "5"));
  EXPECT_FALSE(placed("0", "0", "5"));
  EXPECT_FALSE(placed("0", "4", "0"));
  EXPECT_FALSE(placed("-101", "4", "5"));
  EXPECT_FALSE(placed("0", "4", "9223372036854775807"));
}

// c(to, from, n): all but the first and the last of n words.
Contract copying() {
  Contract made{.kernel = "c",
                .parameters = 3,
                .parameter_bytes = 20,
                .places = {{0, 8}, {8, 8}, {16, 4}},
                .variants = {{.entry = "c", .name = "original"}}};
  made.copy = CopyKernel{1,
                         0,
                         {4, expression("4"), {{expression("4"), expression("p2s32,2,-")}}},
                         {{expression("tx,p2s32,-"), "some elements have no threads"}}};
  return made;
}

TEST(CopyKernel, IsReadBack) {
  const Contract contract = copying();
  const std::string text = encode(contract);
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
}

TEST(CopyKernel, ThatMakesNoSenseIsNoContract) {
  const auto is_read = [](auto change) {
    Contract contract = copying();
    change(*contract.copy);
    return decode(encode(contract)).has_value();
  };
  EXPECT_TRUE(is_read([](CopyKernel& c) { std::swap(c.from, c.to); }));
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.from = 0; }));
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.from = 2; })) << "no pointer";
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.to = 3; })) << "no parameter";
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.elements.bytes = 0; }));
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.elements.bytes = 17; }));
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.elements.begin = expression("p3s32"); }));
  EXPECT_FALSE(is_read([](CopyKernel& c) { c.elements.along.resize(4, c.elements.along[0]); }));
}

TEST(CopyKernel, FitsALaunch) {
  const Contract contract = copying();
  struct {
    std::uint64_t to = 0x10000, from = 0x20000;
    int n = 100;
  } values;
  const auto fitted = [&](unsigned blocks) {
    return fit_copy(contract, {{blocks, 1, 1}, {32, 1, 1}, [&](unsigned number) -> const void* {
                                 return number == 0   ? static_cast<const void*>(&values.to)
                                        : number == 1 ? static_cast<const void*>(&values.from)
                                                      : static_cast<const void*>(&values.n);
                               }});
  };
  const auto found = fitted(4);
  ASSERT_TRUE(found) << found.error();
  EXPECT_EQ(found->from, (PlacedElements{0x20004, 392, {}}));
  EXPECT_EQ(found->to, 0x10004U);
  EXPECT_EQ(fitted(3).error(), "some elements have no threads");
  values.n = 2;
  EXPECT_EQ(fitted(4).error(), "what is copied is not known");
}

TEST(CopyKernel, IsBehindStepsThatSayWhatTheyStore) {
  Contract contract = copying();
  contract.copy.reset();
  contract.steps = {
      {.entry = "c5",
       .count = 5,
       .swaps = {{1, 0}},
       .is_told = true,
       .stored = Elements{4, expression("4"), {{expression("4"), expression("p2s32")}}}}};
  contract.steps.push_back(contract.steps[0]);
  contract.steps[1].count = 3;
  const std::string text = encode(contract);
  EXPECT_EQ(text.find("stores"), text.rfind("stores"));
  const auto read = decode(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, contract);
  contract.steps[1].stored->bytes = 8;
  EXPECT_EQ(decode(encode(contract)), contract);
  contract.steps[1].stored.reset();
  EXPECT_EQ(decode(encode(contract)), contract);
}

} // namespace
} // namespace ptxasw::contract::elements_test
