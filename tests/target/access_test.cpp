// Sector and line counts against a direct simulation over sets of bytes, and the access classes.
#include "target/access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

using namespace ptxasw;
using namespace ptxasw::target;

namespace {

constexpr std::int64_t origin = std::int64_t{1} << 40; // room for negative strides

void touch(std::set<std::int64_t>& granules, std::int64_t address, unsigned bytes, unsigned size) {
  for (unsigned byte = 0; byte < bytes; ++byte)
    granules.insert((address + byte) / size);
}

unsigned simulate(const Request& request, std::int64_t start, unsigned size) {
  std::set<std::int64_t> touched;
  for (unsigned lane = 0; lane < request.lanes; ++lane)
    touch(touched, origin + start + lane * request.stride, request.bytes, size);
  return static_cast<unsigned>(touched.size());
}

Range simulate_starts(const Request& request, unsigned alignment, unsigned size) {
  Range range{~0U, 0};
  for (unsigned start = 0; start < size; ++start) {
    if (start % alignment != 0) continue;
    const unsigned n = simulate(request, start, size);
    range = {std::min(range.least, n), std::max(range.most, n)};
  }
  return range;
}

const std::vector<unsigned> widths{1, 2, 4, 8, 16, 32};

} // namespace

TEST(Granules, MatchSimulationForSmallStrides) {
  for (const unsigned bytes : widths)
    for (std::int64_t stride = -140; stride <= 140; ++stride)
      for (const unsigned lanes : {1U, 2U, 7U, 31U, 32U})
        for (const unsigned start : {0U, 1U, 4U, 28U, 31U, 96U, 127U})
          for (const unsigned size : {sector_bytes, line_bytes}) {
            const Request request{stride, bytes, lanes};
            ASSERT_EQ(granules(request, start, size), simulate(request, start, size))
                << "stride " << stride << " bytes " << bytes << " lanes " << lanes << " start "
                << start << " granule " << size;
          }
}

TEST(Granules, MatchSimulationForAnyStride) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Request request{static_cast<std::int64_t>(random() % 200001) - 100000,
                          widths.at(random() % widths.size()),
                          static_cast<unsigned>(random() % 33)};
    const auto start = static_cast<std::int64_t>(random() % 4096);
    ASSERT_EQ(granules(request, static_cast<std::uint64_t>(start), sector_bytes),
              simulate(request, start, sector_bytes))
        << "stride " << request.stride << " bytes " << request.bytes << " start " << start;
  }
}

TEST(Granules, NothingWrapsAtTheEndsOfTheNumbers) {
  for (const auto stride :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(granules({stride, 4, 32}, ~std::uint64_t{0} - 3, sector_bytes), 32U);
  EXPECT_EQ(granules({4, 4, 0}, 0, sector_bytes), 0U);
  EXPECT_EQ(granules({4, 0, 32}, 0, sector_bytes), 4U);
}

TEST(Sectors, RangeOverNaturalAlignments) {
  for (const unsigned bytes : widths)
    for (std::int64_t stride = -64; stride <= 64; ++stride) {
      const Request request{stride * bytes, bytes};
      EXPECT_EQ(sectors(request), simulate_starts(request, bytes, sector_bytes));
      EXPECT_EQ(lines(request), simulate_starts(request, bytes, line_bytes));
    }
}

TEST(Sectors, KnownCases) {
  struct Case {
    Request request;
    unsigned alignment;
    Range sectors, lines;
  };
  const std::vector<Case> cases{
      {{4, 4}, 0, {4, 5}, {1, 2}},        // f32, coalesced
      {{4, 4}, 128, {4, 4}, {1, 1}},      // the same, aligned
      {{-4, 4}, 0, {4, 5}, {1, 2}},       // backwards
      {{8, 8}, 0, {8, 9}, {2, 3}},        // f64
      {{16, 16}, 0, {16, 17}, {4, 5}},    // v4.f32
      {{1, 1}, 0, {1, 2}, {1, 2}},        // bytes
      {{0, 4}, 0, {1, 1}, {1, 1}},        // uniform
      {{8, 4}, 0, {8, 9}, {2, 3}},        // every other float
      {{32, 4}, 0, {32, 32}, {8, 9}},     // a sector each
      {{4096, 4}, 0, {32, 32}, {32, 32}}, // a column
      {{4, 4, 16}, 0, {2, 3}, {1, 2}},    // half a warp
  };
  for (const auto& c : cases) {
    EXPECT_EQ(sectors(c.request, c.alignment), c.sectors) << c.request.stride;
    EXPECT_EQ(lines(c.request, c.alignment), c.lines) << c.request.stride;
  }
}

TEST(Classify, FirstRuleThatHolds) {
  struct Case {
    Pattern pattern;
    AccessClass expected;
  };
  const std::vector<Case> cases{
      {{Lane::constant, 0, 4, {}}, AccessClass::uniform},
      {{Lane::constant, 0, 4, 4}, AccessClass::uniform},
      {{Lane::constant, 4, 4, {}}, AccessClass::coalesced},
      {{Lane::constant, -8, 8, {}}, AccessClass::coalesced},
      {{Lane::constant, 8, 4, {}}, AccessClass::strided},
      {{Lane::constant, 4, 8, {}}, AccessClass::strided}, // overlapping
      {{Lane::constant, -124, 4, {}}, AccessClass::strided},
      {{Lane::constant, 128, 4, {}}, AccessClass::vertical},
      {{Lane::constant, 4096, 4, 32}, AccessClass::vertical},
      {{Lane::constant, 4096, 4, 0}, AccessClass::vertical},
      {{Lane::constant, 4096, 4, 4}, AccessClass::streaming},
      {{Lane::constant, 4096, 4, -4}, AccessClass::streaming},
      {{Lane::parametric, 0, 4, {}}, AccessClass::vertical},
      {{Lane::parametric, 0, 4, 4}, AccessClass::streaming},
      {{Lane::unknown, 4, 4, 4}, AccessClass::random},
  };
  for (const auto& c : cases)
    EXPECT_EQ(name(classify(c.pattern)), name(c.expected)) << c.pattern.stride;
}

TEST(Classify, SectorsOfPatterns) {
  EXPECT_EQ(sectors_of({Lane::constant, 4, 4, {}}), (Range{4, 5}));
  EXPECT_EQ(sectors_of({Lane::parametric, 0, 4, {}}), (Range{1, 32}));
  EXPECT_EQ(sectors_of({Lane::unknown, 0, 16, {}}), (Range{1, 32}));
}

TEST(Classify, EveryClassHasItsOwnNameAndDescription) {
  std::set<std::string_view> names, descriptions;
  for (const auto access : {AccessClass::uniform, AccessClass::coalesced, AccessClass::strided,
                            AccessClass::vertical, AccessClass::streaming, AccessClass::random}) {
    names.insert(name(access));
    descriptions.insert(description(access));
  }
  EXPECT_EQ(names.size(), 6U);
  EXPECT_EQ(descriptions.size(), 6U);
}
