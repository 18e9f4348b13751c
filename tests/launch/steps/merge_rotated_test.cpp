// Time steps of three arrays in rotation that are put off and merged: what reaches the driver, and
// what memory holds whenever anybody could look.
#include "wave.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace ptxasw::launch {
namespace {

using test::direct;
using test::gpu;
using test::launched;
using test::points;
using test::Stencil;
using test::value_of;
using test::Wave;
using testing::HasSubstr;
using testing::Not;

unsigned calls(const char* name) {
  const std::lock_guard lock(gpu().mutex);
  return gpu().calls[name];
}

TEST(MergeRotated, EveryNumberOfSteps) {
  for (unsigned count = 1; count <= 70; ++count) {
    Wave w;
    w.steps(count);
    w.engine.flush();
    w.expect_as_launched_singly();
    const auto all = launched();
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, all.size()); ++back)
      EXPECT_EQ(all[all.size() - back].entry, "w") << count;
    // Twelve at a time by two launches, then six, then at most eight single ones.
    EXPECT_LE(all.size(), count / 6 + 10 + 3 * (count / 64)) << count;
  }
}

TEST(MergeRotated, PairsAreMadeAsSoonAsTheyCanBe) {
  Wave w;
  w.steps(14);
  EXPECT_EQ(Stencil::made(), "") << "three have to be single";
  w.steps(1);
  const auto all = launched();
  ASSERT_EQ(all.size(), 2U);
  const auto arrays_of = [&](std::size_t n) {
    return value_of<contract::StepArrays>(all[n].parameters[5]);
  };
  for (std::size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(all[n].entry, "w6_rotated");
    EXPECT_EQ(all[n].grid, (std::vector<unsigned>{8, 1, 1}));
    EXPECT_EQ(all[n].block, (std::vector<unsigned>{32, 1, 1}));
    EXPECT_EQ(value_of<unsigned>(all[n].parameters[4], 0), 128U);
    for (unsigned a = 0; a < 3; ++a)
      EXPECT_EQ(all[n].parameters[a], all[0].parameters[a]);
  }
  EXPECT_EQ(arrays_of(0).read_old, value_of<CUdeviceptr>(all[0].parameters[0]));
  EXPECT_EQ(arrays_of(0).write_now, value_of<CUdeviceptr>(all[0].parameters[2]));
  EXPECT_EQ(arrays_of(1).read_old, arrays_of(0).write_old);
  EXPECT_EQ(arrays_of(1).write_old, arrays_of(0).read_old);
  w.steps(6);
  w.engine.flush();
  EXPECT_EQ(Stencil::made(), "w3_rotated w3_rotated w w w");
  w.expect_as_launched_singly();
  EXPECT_EQ(calls("cuMemAlloc"), 1U);
}

TEST(MergeRotated, BehindARunTheFirstIsPutOff) {
  Wave w;
  for (unsigned k = 0; k < 20; ++k) {
    w.steps(16 + k % 3);
    w.engine.flush();
    const std::string all = Stencil::made();
    EXPECT_THAT(all, HasSubstr("w6_rotated w6_rotated w w w"));
    w.expect_as_launched_singly();
  }
  EXPECT_EQ(calls("cuMemAlloc"), 1U) << "one array, kept";
}

// Of the same kernel, whose first array has coefficients then.
TEST(MergeRotated, ArraysThatAreExchangedAreTheOtherEntries) {
  Wave w;
  w.pairs.run = [](const fake::Launched&) {};
  for (unsigned k = 0; k < 60; ++k) {
    EXPECT_EQ(w.engine.launch(w.request(), direct), CUDA_SUCCESS);
    std::swap(w.arrays[1], w.arrays[2]);
  }
  w.engine.flush();
  const std::string all = Stencil::made();
  EXPECT_THAT(all, HasSubstr("w3"));
  EXPECT_THAT(all, Not(HasSubstr("rotated")));
  EXPECT_EQ(calls("cuMemAlloc"), 0U);
}

// --- what does not follow -----------------------------------------------------------------------

TEST(MergeRotated, ArraysThatMoveOtherwiseAreMadeAsTheyCome) {
  const auto singly = [](auto move) {
    Wave w;
    for (unsigned k = 0; k < 40; ++k) {
      EXPECT_EQ(w.engine.launch(w.request(), direct), CUDA_SUCCESS);
      move(w.arrays);
    }
    w.engine.flush();
    EXPECT_THAT(Stencil::made(), Not(HasSubstr("rotated")));
  };
  using Arrays = std::array<CUdeviceptr, 3>;
  singly([](Arrays&) {});
  singly([](Arrays& a) { std::rotate(a.begin(), a.begin() + 2, a.end()); }); // backwards
  singly([](Arrays& a) { std::swap(a[0], a[1]); });
  singly([](Arrays& a) { std::swap(a[0], a[2]); });
}

TEST(MergeRotated, OtherParametersEndTheRun) {
  Wave w;
  w.steps(8);
  w.n = points - 1;
  EXPECT_EQ(w.engine.launch(w.request(), direct), CUDA_SUCCESS);
  EXPECT_EQ(Stencil::made(), "w w w w w w w w w");
}

TEST(MergeRotated, AnotherStreamOrThreadEndsTheRun) {
  Wave w;
  w.steps(10);
  w.stream = reinterpret_cast<CUstream>(0x99);
  w.steps(1); // is put off for its own
  EXPECT_EQ(Stencil::made(), "w3_rotated w3_rotated w w w w");
  w.engine.flush();
  EXPECT_EQ(Stencil::made(), "w");
  w.expect_as_launched_singly();
  w.steps(20);
  w.engine.flush();
  gpu().launches.clear();
  w.steps(10);
  EXPECT_EQ(Stencil::made(), "");
  std::thread([&] { w.steps(1); }).join();
  EXPECT_EQ(Stencil::made(), "w3_rotated w3_rotated w w w w");
  w.engine.flush();
  w.expect_as_launched_singly();
}

TEST(MergeRotated, WhoWaitsSeesProgress) {
  Wave w("no-images,steps");
  w.steps(10);
  for (unsigned n = 0; n < 1000; ++n) {
    if (const std::lock_guard lock(gpu().mutex); gpu().launches.size() >= 6) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  w.engine.flush(); // behind the one that looks, in case it is at it
  EXPECT_EQ(launched().back().entry, "w");
  w.expect_as_launched_singly();
}

// How arrays move is told by the second launch of a run: the third does not follow the first.
TEST(MergeRotated, ARunDoesNotTurnAround) {
  for (const unsigned behind : {1U, 2U, 3U, 4U}) {
    Wave w;
    w.steps(20);
    w.engine.flush(); // the first is put off now
    gpu().launches.clear();
    const auto first = w.arrays;
    std::vector<std::array<CUdeviceptr, 3>> expected;
    const auto launch_with = [&](const std::array<CUdeviceptr, 3>& arrays) {
      expected.push_back(w.arrays = arrays);
      EXPECT_EQ(w.engine.launch(w.request(), direct), CUDA_SUCCESS);
    };
    auto arrays = first;
    for (unsigned k = 0; k <= behind; ++k) {
      launch_with(arrays);
      std::rotate(arrays.begin(), arrays.begin() + 1, arrays.end());
    }
    launch_with({first[0], first[2], first[1]});
    w.engine.flush();
    const auto all = launched();
    ASSERT_EQ(all.size(), expected.size());
    for (std::size_t n = 0; n < all.size(); ++n)
      for (unsigned a = 0; a < 3; ++a)
        EXPECT_EQ(value_of<CUdeviceptr>(all[n].parameters[a]), expected[n][a]) << behind << n << a;
  }
}

TEST(MergeRotated, NotWhereAnyTwoArraysOverlap) {
  for (const auto& [a, b] : {std::pair{0U, 1U}, {1U, 2U}, {0U, 2U}}) {
    Wave w;
    w.steps(20);
    w.engine.flush(); // the first is put off now
    gpu().launches.clear();
    w.arrays[a] = w.arrays[b] + 4;
    for (unsigned k = 0; k < 20; ++k) {
      w.engine.launch(w.request(), direct);
      std::rotate(w.arrays.begin(), w.arrays.begin() + 1, w.arrays.end());
    }
    w.engine.flush();
    EXPECT_THAT(Stencil::made(), Not(HasSubstr("rotated"))) << a << b;
  }
}

// --- the fourth array ---------------------------------------------------------------------------

TEST(MergeRotated, SinglyWhereThereIsNoRoom) {
  Wave w;
  w.engine.flush();
  gpu().room = 100;
  w.steps(30);
  w.engine.flush();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("rotated")));
  w.expect_as_launched_singly();
  EXPECT_LE(calls("cuMemAlloc"), 1U) << "not asked again for each launch";
}

// The arrays of our own that launches to so many streams use, one stream behind the other.
std::size_t arrays_of(Wave& w, unsigned streams) {
  std::vector<CUdeviceptr> found;
  for (std::uintptr_t stream = 0x90; stream < 0x90 + streams; ++stream) {
    w.stream = reinterpret_cast<CUstream>(stream);
    for (unsigned k = 0; k < 2; ++k) {
      w.steps(40);
      w.engine.flush();
      for (const fake::Launched& one : launched())
        if (one.entry != "w" && value_of<CUdeviceptr>(one.parameters[0]) ==
                                    value_of<contract::StepArrays>(one.parameters[5]).read_old)
          found.push_back(value_of<contract::StepArrays>(one.parameters[5]).write_old);
    }
    w.expect_as_launched_singly();
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return found.size();
}

TEST(MergeRotated, EachStreamHasItsOwn) {
  Wave w;
  gpu().events_done = false; // all are at work
  EXPECT_EQ(arrays_of(w, 10), 8U) << "further streams have none";
  EXPECT_EQ(calls("cuMemAlloc"), 8U);
  gpu().events_done = true;
}

// A stream of its own for each loop: what no launch uses any more is the next one's.
TEST(MergeRotated, StreamsThatAreUsedNoMoreMakeRoom) {
  Wave w;
  EXPECT_EQ(arrays_of(w, 10), 1U);
  EXPECT_EQ(calls("cuMemAlloc"), 1U);
  EXPECT_EQ(calls("cuMemFree"), 0U);
}

// A context that was destroyed takes its memory along; the address may be the program's by then.
TEST(MergeRotated, AnArrayThatIsGoneIsNotUsed) {
  Wave w;
  w.steps(20);
  w.engine.flush();
  const auto all = launched();
  const auto fourth = value_of<contract::StepArrays>(all[0].parameters[5]).write_old;
  const CUdeviceptr base = fourth / 16 * 16;
  for (const bool is_reused : {true, false}) {
    if (is_reused) {
      gpu().numbers[base] = ++gpu().last_number;
    } else {
      ASSERT_EQ(gpu().memory.erase(base), 1U);
    }
    w.steps(20);
    w.engine.flush();
    const auto others = launched();
    EXPECT_EQ(others[0].entry, "w6_rotated");
    EXPECT_NE(value_of<contract::StepArrays>(others[0].parameters[5]).write_old, fourth);
    w.expect_as_launched_singly();
  }
  EXPECT_EQ(calls("cuMemFree"), 0U) << "it is not ours any more";
}

// To free the smaller one would wait for the device, which may wait for the host.
TEST(MergeRotated, ALargerOneStandsBesideIt) {
  Wave w;
  w.steps(20);
  w.engine.flush();
  Wave larger; // what its numbers are does not matter
  std::array<std::vector<unsigned char>*, 3> arrays{};
  for (unsigned a = 0; a < 3; ++a) {
    arrays[a] = &gpu().allocate(40 * points);
    larger.arrays[a] = reinterpret_cast<CUdeviceptr>(arrays[a]->data());
  }
  larger.n = 10 * points;
  const auto launches = [&](unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      w.engine.launch(larger.request(), direct);
      std::rotate(larger.arrays.begin(), larger.arrays.begin() + 1, larger.arrays.end());
    }
    w.engine.flush();
  };
  launches(2); // another module's kernel: its entries are loaded
  w.engine.merger()->settle();
  launches(40);
  EXPECT_THAT(Stencil::made(), HasSubstr("rotated"));
  EXPECT_EQ(calls("cuMemAlloc"), 1U);
  w.steps(20);
  launches(40);
  EXPECT_EQ(calls("cuMemAlloc"), 1U);
  EXPECT_EQ(calls("cuMemFree"), 0U);
  w.expect_as_launched_singly();
}

TEST(MergeRotated, IsAllocatedWhileOthersCapture) {
  Wave w;
  w.steps(20);
  w.engine.flush();
  EXPECT_EQ(calls("cuMemAlloc"), 1U);
  EXPECT_FALSE(gpu().allocated_in_strict_mode);
}

// --- entries that do not launch -----------------------------------------------------------------

TEST(MergeRotated, EntriesThatDoNotLaunchAreDoneSingly) {
  Wave w;
  w.six.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  w.steps(21);
  w.engine.flush();
  EXPECT_THAT(Stencil::made(), HasSubstr("w3_rotated"));
  w.expect_as_launched_singly();
}

// The first one of a pair has written what the launches that stand for it write again.
TEST(MergeRotated, TheSecondOfAPairMayFail) {
  Wave w;
  unsigned made = 0;
  w.six.run = [&](const fake::Launched& launch) {
    test::wave(launch, 6);
    w.six.result = ++made % 2 != 0 ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
  };
  w.steps(20);
  w.engine.flush();
  EXPECT_EQ(made, 1U);
  w.expect_as_launched_singly();
}

// --- check --------------------------------------------------------------------------------------

TEST(MergeRotated, IsChecked) {
  Wave w("no-images,steps=60000000,check");
  w.steps(21);
  w.engine.flush();
  w.expect_as_launched_singly();
  EXPECT_THAT(Stencil::made(), HasSubstr("w6_rotated w6_rotated w3_rotated w3_rotated w w w"));
}

TEST(MergeRotated, AWrongEntryIsCaught) {
  Wave w("no-images,steps=60000000,check");
  w.six.run = [](const auto& launch) { test::wave(launch, 5); };
  const auto wrong = [&] {
    w.steps(21);
    w.engine.flush();
  };
  EXPECT_EXIT(wrong(), testing::ExitedWithCode(86), "several steps in one differs in buffer");
}

} // namespace
} // namespace ptxasw::launch
