// The body of a kernel that stands in a larger one: recorded machine code, and one difference at a
// time.
#include "sass/same_body.hpp"
#include "source_dir.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <sstream>

namespace ptxasw::sass {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A line of hexadecimal words for each instruction.
std::vector<Instruction> recorded(const std::string& name) {
  std::ifstream in(std::string(PTXASW_SOURCE_DIR "/tests/sass/recorded/") + name + ".txt");
  std::vector<Instruction> code;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::uint64_t low = 0, high = 0;
    words >> std::hex >> low >> high;
    code.push_back(decode(low, high, 90));
  }
  EXPECT_FALSE(code.empty()) << name;
  return code;
}

TEST(SameBody, AsPtxasMadeIt) {
  EXPECT_EQ(why_not_same_body(recorded("product_half"), recorded("product_half_y2")), "");
  EXPECT_NE(why_not_same_body(recorded("double_buffer"), recorded("double_buffer_x4")), "");
  EXPECT_NE(why_not_same_body(recorded("product_half"), recorded("double_buffer_x4")), "");
}

struct Word {
  unsigned opcode = 0x221; // FADD
  unsigned result = 4, a = 8, b = 12, guard = 7;
  Schedule schedule{.stall = 4};
  int to = 0; // of a branch: how far from the next one
};
Instruction made(const Word& word) {
  const auto distance = static_cast<std::uint64_t>(std::int64_t{16} * word.to);
  std::uint64_t low = word.opcode | word.guard << 12U, high = 0;
  if (word.opcode == 0x947) {
    low |= distance << 32U;
    high = distance >> 32U & 0x3ffffU;
  } else {
    low |= word.result << 16U | word.a << 24U | std::uint64_t{word.b} << 32U;
  }
  const Schedule& s = word.schedule;
  high |= std::uint64_t{s.stall} << 41U | std::uint64_t{s.write_barrier} << 46U |
          std::uint64_t{s.read_barrier} << 49U | std::uint64_t{s.wait} << 52U |
          std::uint64_t{s.reuse} << 58U;
  if (word.opcode == 0x947) high |= std::uint64_t{7} << 23U; // under no other condition
  return decode(low, high, 80);
}
std::vector<Instruction> code(const std::vector<Word>& words) {
  std::vector<Instruction> result;
  for (const Word& word : words)
    result.push_back(made(word));
  return result;
}

const Word index{.opcode = 0x919}, constant{.opcode = 0xab9, .a = 255, .schedule = {.stall = 2}};
const Word load{.opcode = 0x981, .schedule = {.stall = 1, .write_barrier = 0}};
const Word use{.schedule = {.stall = 4, .wait = 1}};
const Word done{.opcode = 0x94d, .schedule = {.stall = 5}};
Word leave(int to) {
  return {.opcode = 0x947, .guard = 0, .schedule = {.stall = 5}, .to = to};
}

// A loop behind a guard: index, leave | constant, load, use, again | done.
const std::vector<Word> kernel{index, leave(4), constant, load, use, leave(-3), done};
// The same behind a question, whose branch leads to what is merged.
std::vector<Word> asked(const std::function<void(std::vector<Word>&)>& change = {}) {
  std::vector<Word> body = kernel;
  if (change) change(body);
  body.insert(body.begin(), {{.opcode = 0xb82, .a = 255}, {.opcode = 0x20c}, leave(0)});
  body[2].to = static_cast<int>(body.size()) - 3;
  body.push_back({.opcode = 0x223});
  body.push_back(done);
  return body;
}
std::string why_not(const std::vector<Word>& larger) {
  return why_not_same_body(code(kernel), code(larger));
}

TEST(SameBody, BehindAQuestion) {
  EXPECT_EQ(why_not(asked()), "");
  EXPECT_EQ(why_not(asked([](auto& body) {
              for (Word& word : body) {
                word.result += 16;
                if (word.a != 255) word.a += 2;
                if (word.opcode == 0x221) word.b += 1;
              }
            })),
            "")
      << "other registers";
  // The body where the question leads to.
  std::vector<Word> behind{{.opcode = 0xb82, .a = 255}, leave(2), {.opcode = 0x223}, done};
  behind.insert(behind.end(), kernel.begin(), kernel.end());
  EXPECT_EQ(why_not(behind), "");
  EXPECT_NE(why_not(kernel), "") << "no question";
}

TEST(SameBody, NothingElseMayDiffer) {
  const auto changed = [](const std::function<void(std::vector<Word>&)>& change) {
    return why_not(asked(change));
  };
  EXPECT_THAT(changed([](auto& body) { body[4].opcode = 0x223; }), HasSubstr("another one"));
  EXPECT_THAT(changed([](auto& body) { body[4].guard = 0; }), HasSubstr("another one"));
  EXPECT_THAT(changed([](auto& body) { std::swap(body[3], body[4]); }), HasSubstr("another one"));
  EXPECT_THAT(changed([](auto& body) { body[4].schedule.wait = 0; }), HasSubstr("anew"));
  EXPECT_THAT(changed([](auto& body) { body[4].schedule.reuse = 1; }), HasSubstr("anew"));
  EXPECT_THAT(changed([](auto& body) { body[4].schedule.read_barrier = 2; }), HasSubstr("anew"));
  EXPECT_THAT(changed([](auto& body) { body[3].schedule.write_barrier = 1; }), HasSubstr("anew"));
  EXPECT_EQ(changed([](auto& body) {
              body[3].schedule.write_barrier = 1;
              body[4].schedule.wait = 2;
            }),
            "")
      << "a barrier of another number";
  EXPECT_THAT(changed([](auto& body) { body[4].schedule.stall = 5; }),
              HasSubstr("after 13 cycles instead of 12"));
  EXPECT_THAT(changed([](auto& body) { body[5].to = -2; }), HasSubstr("from elsewhere"));
  EXPECT_THAT(changed([](auto& body) { body.erase(body.begin() + 4); }), HasSubstr("another one"));
  EXPECT_THAT(changed([](auto& body) { body.insert(body.begin() + 4, Word{}); }),
              HasSubstr("anew"));
}

// What a kernel does up to its first branch may stand on either side of the question.
TEST(SameBody, TheFirstBlockMayStandAroundTheQuestion) {
  std::vector<Word> early = asked([](auto& body) { body.erase(body.begin()); });
  early.insert(early.begin(), index);
  EXPECT_EQ(why_not(early), "");
  EXPECT_THAT(why_not(asked([](auto& body) { body.erase(body.begin()); })),
              HasSubstr("first block"));
  std::vector<Word> longer = asked();
  longer.insert(longer.begin(), 8, {.opcode = 0x223});
  EXPECT_THAT(why_not(longer), HasSubstr("more is done in front"));
}

// ptxas reads the descriptor of global memory once for all that may need it.
TEST(SameBody, AConstantMayHaveBeenReadInFront) {
  const auto without = [](std::vector<Word>& body) {
    body.erase(body.begin() + 2);
    body[1].to = 3;
    body[4].to = -3;
  };
  EXPECT_THAT(why_not(asked(without)), HasSubstr("another one")) << "read nowhere";
  std::vector<Word> early = asked(without);
  early.insert(early.begin(), constant);
  EXPECT_EQ(why_not(early), "");
  // Its two cycles may be another instruction's.
  early = asked([&](auto& body) {
    without(body);
    body[2].schedule.stall = 3;
  });
  early.insert(early.begin(), constant);
  EXPECT_EQ(why_not(early), "");
}

TEST(SameBody, CodeOfAnyKind) {
  EXPECT_NE(why_not_same_body({}, {}), "");
  EXPECT_NE(why_not_same_body(code(kernel), {}), "");
  EXPECT_NE(why_not(std::vector<Word>(3)), "");
  std::vector<Word> far = asked();
  far[2].to = 1000;
  EXPECT_EQ(why_not(far), "") << "who leaves goes wherever";
  far = asked([](auto& body) { body[5].to = 1000; });
  EXPECT_THAT(why_not(far), HasSubstr("leads elsewhere"));
}

} // namespace
} // namespace ptxasw::sass
