// When launches of several kernels are passes that may become one, and what was seen of sequences.
#include "contract/sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ptxasw::contract::sequences {
namespace {

Expression expression(std::string_view word) {
  return to_expression(word).value_or(Expression{});
}

Sequence::Stage stage(const std::string& kernel, bool writes_first) {
  const auto touched = [](unsigned part, bool written) {
    return Touched{part, written, expression("0"), expression("p2s32,4,*")};
  };
  return {.kernel = kernel,
          .places = {{0, 8}, {8, 8}, {16, 4}},
          .conditions = {{expression("p2s32,3,-"), "nothing to do"}},
          .touched = {touched(0, writes_first), touched(1, !writes_first)},
          .boxes = {{.extents = {},
                     .first = {expression("0"), expression("0"), expression("0")},
                     .end = {expression("p2s32"), expression("1"), expression("1")}}}};
}

// speed(v, u, n): v from u and itself; height(v, u, n): u from v and itself.
Contract wave() {
  Contract made{.kernel = "speed",
                .parameters = 3,
                .parameter_bytes = 20,
                .places = {{0, 8}, {8, 8}, {16, 4}},
                .variants = {{.entry = "speed", .name = "original"}}};
  made.sequences.push_back(
      {.entry = "speed_height",
       .count = 4,
       .waits = true,
       .block = {64, 1, 1},
       .covers = {48, 1, 1},
       .stages = {stage("speed", true), stage("height", false)},
       .equal = {{{0, 0}, {1, 0}, 8}, {{0, 1}, {1, 1}, 8}, {{0, 2}, {1, 2}, 4}},
       .arrays = {{0, 0}, {1, 1}},
       .elements = {{4, {expression("4")}}, {4, {expression("4")}}}});
  return made;
}

struct Arguments {
  std::array<std::uint64_t, 2> v{0x10000, 0x10000}, u{0x20004, 0x20004};
  std::array<int, 2> n{100, 100};
  std::array<unsigned, 2> blocks{4, 4};
  [[nodiscard]] StepLaunch launch(unsigned stage) const {
    return {{blocks.at(stage), 1, 1}, {32, 1, 1}, [this, stage](unsigned number) -> const void* {
              return number == 0   ? static_cast<const void*>(&v.at(stage))
                     : number == 1 ? static_cast<const void*>(&u.at(stage))
                                   : static_cast<const void*>(&n.at(stage));
            }};
  }
  [[nodiscard]] auto fitted() const {
    static const Contract contract = wave();
    const std::vector<StepLaunch> launches{launch(0), launch(1)};
    return fit(contract.sequences[0], launches);
  }
};

TEST(Sequences, FitTheLaunchesOfAPass) {
  const auto fitted = Arguments{.blocks = {4, 5}}.fitted();
  ASSERT_TRUE(fitted) << fitted.error();
  EXPECT_EQ(fitted->grid[0], 4); // 160 places by 48
  EXPECT_EQ(fitted->threads, (std::vector<std::uint32_t>{128, 1, 1, 160, 1, 1, 4}));
  ASSERT_EQ(fitted->arrays.size(), 2);
  EXPECT_EQ(fitted->arrays[1].pointer, 0x20004);
  EXPECT_EQ(fitted->arrays[1].range.end, 0x20004 + 400);
  EXPECT_TRUE(fitted->read.empty());
}

// Stages that are parts of one launch along a line: a row, and a column.
TEST(Sequences, MayHaveSeveralPartsOfALaunch) {
  Sequence sequence = wave().sequences[0];
  sequence.elements = {{4, {expression("4"), expression("400")}},
                       {4, {expression("4"), expression("400")}}};
  sequence.stages[0].boxes = {{{expression("tx"), expression("6"), expression("1")},
                               {expression("0"), expression("5"), expression("0")},
                               {expression("p2s32"), expression("6"), expression("1")}},
                              {{expression("3"), expression("tx"), expression("1")},
                               {expression("2"), expression("0"), expression("0")},
                               {expression("3"), expression("p2s32"), expression("1")}}};
  const Arguments arguments;
  const std::vector<StepLaunch> launches{arguments.launch(0), arguments.launch(1)};
  const auto fitted = fit(sequence, launches);
  ASSERT_TRUE(fitted) << fitted.error();
  EXPECT_EQ(fitted->threads, (std::vector<std::uint32_t>{128, 6, 1, 3, 128, 1, 128, 1, 1, 4}));
  EXPECT_EQ(fitted->grid, (std::array<unsigned, 3>{3, 128, 1}));
  const auto error = [&](const auto& change) {
    Sequence other = sequence;
    change(other);
    return fit(other, launches).error();
  };
  EXPECT_EQ(error([](Sequence& s) { s.stages[0].boxes[0].extents[1] = expression("0"); }),
            "its places are not known");
  EXPECT_EQ(error([](Sequence& s) {
              s.stages[0].boxes[0].extents[0] = expression("p2s32,p2s32,*,p2s32,*,p2s32,*,p2s32,*");
            }),
            "the grid is too large");
}

// A place along x behind the end of a row is the begin of the next one.
TEST(Sequences, HaveElementsThatAreApart) {
  Sequence sequence = wave().sequences[0];
  const auto error_with = [&](const char* stride, const char* end) {
    for (Sequence::Element& element : sequence.elements)
      element.strides = {expression("4"), expression(stride)};
    sequence.stages[1].boxes[0].end = {expression(end), expression("3"), expression("1")};
    const Arguments arguments;
    const std::vector<StepLaunch> launches{arguments.launch(0), arguments.launch(1)};
    const auto fitted = fit(sequence, launches);
    return fitted ? "" : fitted.error();
  };
  EXPECT_EQ(error_with("400", "100"), "");
  EXPECT_EQ(error_with("400", "7"), "") << "of both stages together";
  EXPECT_EQ(error_with("396", "7"), "places of several stages have one element");
  EXPECT_EQ(error_with("400", "101"), "places of several stages have one element");
  EXPECT_EQ(error_with("0", "100"), "places of several stages have one element");
}

TEST(Sequences, OfOtherArraysOrSizesDoNotFit) {
  for (const Arguments& other :
       {Arguments{.v = {0x10000, 0x30000}}, Arguments{.u = {0x30000, 0x20004}},
        Arguments{.n = {100, 99}}, Arguments{.n = {2, 2}}, Arguments{.v = {0x20000, 0x20000}},
        Arguments{.v = {0x20004, 0x20004}}})
    EXPECT_FALSE(other.fitted());
  EXPECT_EQ((Arguments{.v = {0x20000, 0x20000}}).fitted().error(), "the arrays overlap");
}

TEST(Sequences, HaveEachArrayUnderTheNamesThatTheySay) {
  Sequence sequence = wave().sequences[0];
  sequence.equal.erase(sequence.equal.begin() + 1); // that height's u is what speed reads
  const Arguments arguments;
  const std::vector<StepLaunch> launches{arguments.launch(0), arguments.launch(1)};
  EXPECT_EQ(fit(sequence, launches).error(), "the arrays overlap");
}

TEST(Sequences, WriteNoArrayMoreThanTheySay) {
  Sequence sequence = wave().sequences[0];
  sequence.arrays.pop_back();
  sequence.elements.pop_back();
  const Arguments arguments;
  const std::vector<StepLaunch> launches{arguments.launch(0), arguments.launch(1)};
  EXPECT_EQ(fit(sequence, launches).error(), "an array more is written");
}

// The number of height, which is in no other expression than its own.
Contract varying() {
  Contract made = wave();
  made.sequences[0].equal.pop_back();
  made.sequences[0].varying = {{1, 2}};
  return made;
}

TEST(Sequences, AreAskedInEachPassWhatHangsOnAValue) {
  Sequence sequence = varying().sequences[0];
  const auto fitted = [&](std::array<int, 2> second) {
    const Arguments one, other{.n = second};
    const std::vector<StepLaunch> launches{one.launch(0), one.launch(1), other.launch(0),
                                           other.launch(1)};
    return fit(sequence, launches);
  };
  ASSERT_TRUE(fitted({100, 120}));
  EXPECT_EQ(fitted({100, 120})->arrays[1].range.end, 0x20004 + 480) << "of all passes";
  EXPECT_EQ(fitted({100, 2}).error(), "nothing to do");
  EXPECT_TRUE(is_asked(sequence, {1, 2}));
  EXPECT_TRUE(is_asked(sequence, {1, 0})) << "what a pointer points to is touched";
  EXPECT_FALSE(is_asked(sequence, {1, 3})) << "nothing says anything of it";
  EXPECT_EQ(bytes_of_values(sequence), 4 * 8);
}

TEST(Sequences, HaveMemoryOfOnesOwn) {
  const auto fitted = Arguments{}.fitted();
  ASSERT_TRUE(fitted);
  const FittedArray& array = fitted->arrays[1];
  const std::uint64_t own = own_address(array, 0x500000);
  EXPECT_EQ(own % 16, array.pointer % 16);
  EXPECT_GE(own, 0x500000);
  EXPECT_LE(own + 400, 0x500000 + own_bytes(array));
}

TEST(Sequences, AreReadBack) {
  for (const Contract& contract : {wave(), varying()}) {
    const auto read = decode(encode(contract));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, contract);
  }
}

TEST(Sequences, ThatMakeNoSenseAreNoContract) {
  const auto is_read = [](const auto& change) {
    Contract contract = wave();
    change(contract.sequences[0]);
    return decode(encode(contract)).has_value();
  };
  EXPECT_TRUE(is_read([](Sequence&) {}));
  EXPECT_FALSE(is_read([](Sequence& s) { s.count = 0; }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.stages.pop_back(); }));
  EXPECT_FALSE(is_read([](Sequence& s) { std::swap(s.stages[0], s.stages[1]); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.arrays.clear(); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.arrays[0].part = part(2, 0); })) << "no pointer";
  EXPECT_FALSE(is_read([](Sequence& s) { s.arrays[0].stage = 2; }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.stages[0].boxes.clear(); }));
  EXPECT_FALSE(
      is_read([](Sequence& s) { s.stages[0].boxes.resize(most_boxes + 1, s.stages[0].boxes[0]); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.stages[1].boxes[0].end[1].clear(); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.stages[1].boxes[0].extents[0] = expression("p3s32"); }))
      << "there is no such parameter";
  EXPECT_FALSE(is_read([](Sequence& s) { s.stages[1].boxes[0].extents[0] = expression("tx"); }))
      << "of one axis alone";
  EXPECT_FALSE(is_read([](Sequence& s) { s.elements.pop_back(); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.elements[0].bytes = 16; }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.elements[0].strides[1] = expression("p3s32"); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.equal[2].bytes = 8; })) << "beyond the parameter";
  EXPECT_FALSE(is_read([](Sequence& s) { s.stages[1].touched[0].parameter = part(3, 0); }));
  EXPECT_FALSE(is_read([](Sequence& s) { s.varying = {{0, 2}}; })) << "is to be equal";
  EXPECT_FALSE(is_read([](Sequence& s) { s.varying = {{1, 1}}; })) << "an array";
  EXPECT_FALSE(is_read([](Sequence& s) { s.varying = {{0, 3}}; })) << "there is none";
  EXPECT_FALSE(is_read([](Sequence& s) {
    s.equal.pop_back();
    s.varying = {{1, part(2, 2)}};
  })) << "half of one";
}

TEST(SeenSequences, AreReadBack) {
  const std::vector<SeenSequence> seen{
      {{"speed", "height"}, {{8, {{0, 0}, {1, 0}}}, {8, {{0, 1}, {1, 1}}}}, {{0, 2}, {1, 2}}},
      {.kernels = {"tile"}, .classes = {}, .varying = {}, .block = {{32, 8, 1}}}};
  const auto read = decode_seen(encode(seen));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, seen);
  for (const char* text :
       {"", "{}", "[]", R"({"sequences": [{"kernels": ["a"], "classes": []}]})",
        R"({"sequences": [{"kernels": ["a"], "classes": [], "block": [32, 8]}]})",
        R"({"sequences": [{"kernels": ["a"], "classes": [], "block": [32, 0, 1]}]})",
        R"({"sequences": [{"kernels": ["a"], "classes": [], "block": [32, 32, 2]}]})",
        R"({"sequences": [{"kernels": ["a", "b"], "classes": [], "block": [32, 8, 1]}]})",
        R"({"sequences": [{"kernels": ["a","b","c","d","e","f","g","h","i"], "classes": []}]})",
        R"({"sequences": [{"kernels": ["a", "b"], "classes": [3]}]})",
        R"({"sequences": [{"kernels": ["a", "b"], "classes": [], "varying": [[2, "0"]]}]})"})
    EXPECT_FALSE(decode_seen(text)) << text;
  EXPECT_TRUE(decode_seen(R"({"sequences": [{"kernels": ["a", "a"], "classes": []}]})"))
      << "with other arrays the second time";
}

} // namespace
} // namespace ptxasw::contract::sequences
