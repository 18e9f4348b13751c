// A step is a launch and a copy of what it wrote back to where it reads from: what reaches the
// driver, and what memory holds whenever anybody could look.
#include "stencil.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace ptxasw::launch {
namespace {

using numbers::launch::first_needed;
using test::direct;
using test::gpu;
using test::launched;
using test::points;
using test::Stencil;
using testing::HasSubstr;
using testing::Not;

struct Jacobi : Stencil {
  explicit Jacobi(const std::string& settings = "no-images,steps=60000000") : Stencil(settings) {
    engine.flush();
    pairs(first_needed + 30); // from now on what may be put off is
    engine.flush();
    launched();
  }
  [[nodiscard]] DeviceCopy back() const { return {in, out, 4 * points, CU_STREAM_LEGACY}; }
  static void make(const DeviceCopy& copy) {
    driver().copy_on_device(copy.to, copy.from, copy.bytes, copy.stream);
  }
  void half() {
    EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS);
    for (unsigned i = 1; i + 1 < points; ++i)
      y[i] = 2 * x[i - 1] + x[i + 1] + 1;
  }
  void copy() {
    if (!engine.take_copy(back())) make(back());
    x = y;
  }
  void pairs(unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      half();
      copy();
    }
  }
};

TEST(MergeCopied, EveryNumberOfSteps) {
  for (unsigned count = 1; count <= 80; ++count) {
    Jacobi j;
    j.pairs(count);
    j.engine.flush();
    j.expect_as_launched_singly();
    EXPECT_LE(launched().size(), 2 * (count / 5 + 6 + 3 * (count / 60))) << count;
  }
}

TEST(MergeCopied, TheFirstStepIsMadeAsItComes) {
  Jacobi j;
  std::string made;
  for (unsigned k = 0; k < 13; ++k) {
    j.pairs(1);
    made += Stencil::made() + ",";
  }
  EXPECT_EQ(made, "s copy,,,,,,s5,,,,,s5,,");
  j.engine.flush();
  EXPECT_EQ(Stencil::made(), "s copy s copy");
  j.expect_as_launched_singly();
}

// An odd number of groups leaves what was computed last in the other array.
TEST(MergeCopied, ALaunchReadsWhatWasComputedLast) {
  Jacobi j;
  j.pairs(7);
  j.engine.flush();
  EXPECT_EQ(Stencil::made(), "s copy s5 copy s copy");
  j.expect_as_launched_singly();
}

TEST(MergeCopied, ALaunchWithoutItsCopyEndsTheRun) {
  for (const unsigned count : {0U, 1U, 5U, 6U, 7U, 11U, 12U, 17U}) {
    Jacobi j;
    j.pairs(count);
    j.half();
    j.engine.flush();
    j.expect_as_launched_singly();
    j.pairs(9); // begins anew
    j.engine.flush();
    j.expect_as_launched_singly();
  }
}

TEST(MergeCopied, AnotherCopyEndsTheRun) {
  Jacobi j;
  const auto ends = [&](auto change) {
    for (const unsigned count : {3U, 8U}) {
      j.pairs(count);
      j.half();
      DeviceCopy other = j.back();
      change(other);
      EXPECT_FALSE(j.engine.take_copy(other));
      j.expect_as_launched_singly();
      j.copy();
      j.pairs(3);
      j.engine.flush();
      j.expect_as_launched_singly();
    }
  };
  ends([](DeviceCopy& c) { c.bytes -= 4; });
  ends([](DeviceCopy& c) { std::swap(c.to, c.from); });
  ends([](DeviceCopy& c) { c.to += 4; });
  ends([](DeviceCopy& c) { c.stream = reinterpret_cast<CUstream>(0x99); });
}

TEST(MergeCopied, TwoCopiesOrNoneEndTheRun) {
  Jacobi j;
  j.pairs(8);
  EXPECT_FALSE(j.engine.take_copy(j.back()));
  j.expect_as_launched_singly();
  j.pairs(8);
  j.half();
  j.half();
  j.engine.flush();
  j.expect_as_launched_singly();
}

// What is left out of the copy is not the same in both arrays.
TEST(MergeCopied, NotWhereLessIsCopied) {
  Jacobi j;
  for (unsigned k = 0; k < 40; ++k) {
    j.half();
    DeviceCopy less = j.back();
    less.bytes -= 4;
    if (!j.engine.take_copy(less)) Jacobi::make(less);
  }
  j.engine.flush();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
}

TEST(MergeCopied, NotFromAnotherThread) {
  Jacobi j;
  j.pairs(6);
  j.half();
  std::thread([&] { j.copy(); }).join();
  j.expect_as_launched_singly();
  EXPECT_THAT(Stencil::made(), Not(testing::IsEmpty()));
}

TEST(MergeCopied, EveryKStepsSomethingElse) {
  for (unsigned k = 1; k <= 20; ++k) {
    Jacobi j;
    unsigned late = 0;
    for (unsigned n = 0; n < 20; ++n) {
      j.pairs(k);
      const std::size_t made = gpu().launches.size();
      j.engine.flush();
      if (n >= 3) late += static_cast<unsigned>(gpu().launches.size() - made);
      j.expect_as_launched_singly();
    }
    EXPECT_EQ(late, 0U) << k;
    if (k > 4) {
      EXPECT_THAT(Stencil::made(), testing::AnyOf(HasSubstr("s3"), HasSubstr("s5")));
    }
  }
}

TEST(MergeCopied, IsChecked) {
  Jacobi j("no-images,steps=60000000,check");
  j.pairs(12);
  j.engine.flush();
  j.expect_as_launched_singly();
  EXPECT_THAT(Stencil::made(), HasSubstr("s5"));
}

TEST(MergeCopied, AWrongEntryIsCaught) {
  Jacobi j("no-images,steps=60000000,check");
  j.five.run = [](const auto& launch) { test::step(launch, 4); };
  const auto wrong = [&] {
    j.pairs(12);
    j.engine.flush();
  };
  EXPECT_EXIT(wrong(), testing::ExitedWithCode(86), "several steps in one differs in buffer");
}

} // namespace
} // namespace ptxasw::launch
