// A step is a launch and a kernel that copies what it wrote back to where it reads from: what
// reaches the driver, and what memory holds whenever anybody could look.
#include "stencil.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace ptxasw::launch::copy_kernel_test {
namespace {

using numbers::launch::first_needed;
using test::direct;
using test::expression;
using test::gpu;
using test::launched;
using test::points;
using test::Stencil;
using test::value_of;
using testing::HasSubstr;
using testing::Not;

unsigned calls(const char* name) {
  const std::lock_guard lock(gpu().mutex);
  return gpu().calls[name];
}

// c(to, from, n) copies elements [first, n - behind) of words.
struct Copied : Stencil {
  unsigned first, behind;
  fake::Function& copies = gpu().add(module, "c", {8, 8, 4});
  CUdeviceptr to = in, from = out;
  unsigned m = points;
  void* copied[3] = {&to, &from, &m};
  CUstream stream = CU_STREAM_LEGACY;

  explicit Copied(unsigned its_first = 1, unsigned its_behind = 1,
                  const std::string& settings = "no-images,steps=60000000")
      : Stencil(settings, false, true), first(its_first), behind(its_behind) {
    auto contract = *contract::decode(module.globals[contract::symbol_of("s")]);
    for (contract::Steps& steps : contract.steps)
      steps.stored = {4, expression("4"), {{expression("4"), expression("p2s32,2,-")}}};
    module.globals[contract::symbol_of("s")] = contract::encode(contract);
    module.globals[contract::symbol_of("c")] = contract::encode(copy_contract());
    copies.run = [this](const fake::Launched& launch) {
      auto* at = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[0]));
      auto* read = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[1]));
      std::copy(read + first, read + value_of<unsigned>(launch.parameters[2]) - behind, at + first);
    };
    reinterpret_cast<unsigned*>(b.data())[0] = y[0] = 7654321; // a rim of its own
    begin();
  }
  [[nodiscard]] contract::Contract copy_contract() const {
    const std::string start = std::to_string(4 * first),
                      count = "p2s32," + std::to_string(first + behind) + ",-";
    contract::Contract made{.kernel = "c",
                            .parameters = 3,
                            .parameter_bytes = 20,
                            .places = {{0, 8}, {8, 8}, {16, 4}},
                            .variants = {{.entry = "c", .name = "original"}}};
    made.copy = contract::CopyKernel{
        1,
        0,
        {4, expression(start.c_str()), {{expression("4"), expression(count.c_str())}}},
        {{expression("p2s32,3,-"), "too few points"}}};
    return made;
  }
  template <class Change> void change_steps(const Change& change) {
    auto contract = *contract::decode(module.globals[contract::symbol_of("s")]);
    for (contract::Steps& steps : contract.steps)
      change(steps);
    module.globals[contract::symbol_of("s")] = contract::encode(contract);
    engine.forget_handles();
  }
  // From now on what may be put off is.
  void begin() {
    pairs(first_needed);
    settle(); // entries are loaded by then
    engine.flush();
    pairs(first_needed + 30);
    engine.flush();
    launched();
    const std::lock_guard lock(gpu().mutex);
    gpu().calls.clear();
  }
  [[nodiscard]] Request copying() {
    return {
        reinterpret_cast<CUfunction>(&copies), {4, 1, 1}, {32, 1, 1}, 0, stream, copied, nullptr};
  }
  void half() {
    EXPECT_EQ(engine.launch(request(), direct), CUDA_SUCCESS);
    for (unsigned i = 1; i + 1 < points; ++i)
      y[i] = 2 * x[i - 1] + x[i + 1] + 1;
  }
  void copy() {
    EXPECT_EQ(engine.launch(copying(), direct), CUDA_SUCCESS);
    std::copy(y.begin() + first, y.begin() + m - behind, x.begin() + first);
  }
  void pairs(unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      half();
      copy();
    }
  }
  void expect_same() {
    engine.flush();
    expect_as_launched_singly();
  }
};

TEST(MergeCopyKernel, EveryNumberOfSteps) {
  for (const unsigned rim : {0U, 1U})
    for (unsigned count = 1; count <= 80; ++count) {
      Copied j(rim, rim);
      j.pairs(count);
      j.expect_same();
      EXPECT_LE(launched().size(), 2 * (count / 5 + 6 + 3 * (count / 60))) << count;
    }
}

// All that is read is copied: the arrays are exchanged, and ours is not needed.
TEST(MergeCopyKernel, OfTheWholeArray) {
  Copied j(0, 0);
  j.pairs(12);
  EXPECT_EQ(Stencil::made(), "s c s5 s5");
  j.engine.flush();
  EXPECT_EQ(Stencil::made(), "s c");
  j.expect_same();
  j.pairs(8);
  j.engine.flush();
  EXPECT_EQ(Stencil::made(), "s c s5 c s c s c");
  EXPECT_EQ(calls("cuMemAlloc"), 0U);
}

// The arrays have rims of their own: an array of ours with that of the one that is read takes the
// place of the one that is written.
TEST(MergeCopyKernel, OfTheInterior) {
  Copied j;
  j.pairs(8);
  EXPECT_EQ(Stencil::made(), "s c copy s5") << "two steps are held back";
  j.pairs(5);
  EXPECT_EQ(Stencil::made(), "s5");
  j.engine.flush();
  EXPECT_EQ(Stencil::made(), "s c s c");
  j.expect_same();
  j.pairs(8);
  j.engine.flush();
  const auto all = launched();
  ASSERT_EQ(all.size(), 7U); // s c copy s5 s s c
  EXPECT_EQ(value_of<CUdeviceptr>(all[3].parameters[0]), j.in);
  const auto ours = value_of<CUdeviceptr>(all[3].parameters[1]);
  EXPECT_NE(ours, j.out);
  EXPECT_EQ(ours % 16, j.out % 16);
  EXPECT_EQ(value_of<CUdeviceptr>(all[4].parameters[0]), ours) << "brought back by a step";
  EXPECT_EQ(value_of<CUdeviceptr>(all[4].parameters[1]), j.in);
  EXPECT_EQ(value_of<CUdeviceptr>(all[5].parameters[0]), j.in);
  EXPECT_EQ(value_of<CUdeviceptr>(all[5].parameters[1]), j.out);
  EXPECT_EQ(all[6].entry, "c");
  j.expect_same();
}

TEST(MergeCopyKernel, OfMoreThanTheInterior) {
  for (const auto& [first, behind] : {std::pair{0U, 1U}, {1U, 0U}})
    for (const unsigned count : {8U, 9U, 13U, 14U, 31U}) {
      Copied j(first, behind);
      j.pairs(count);
      j.expect_same();
      EXPECT_THAT(Stencil::made(), HasSubstr("copy s5"));
    }
}

TEST(MergeCopyKernel, NotOfLessThanAStepWrites) {
  for (const auto& [first, behind] : {std::pair{2U, 1U}, {1U, 2U}, {2U, 0U}}) {
    Copied j(first, behind);
    j.pairs(40);
    j.expect_same();
    EXPECT_THAT(Stencil::made(), Not(testing::AnyOf(HasSubstr("s5"), HasSubstr("s3"))));
  }
}

// Every second element, as far as a step reads.
TEST(MergeCopyKernel, NotOfElementsWithOthersBetweenThem) {
  Copied j(0, 0);
  j.change_steps([](contract::Steps& steps) {
    for (contract::Touched& touched : steps.touched)
      touched.end = expression("p2s32,1,-,4,*");
  });
  contract::Contract contract = j.copy_contract();
  contract.copy->elements.along[0] = {expression("8"), expression("50")};
  j.module.globals[contract::symbol_of("c")] = contract::encode(contract);
  j.engine.forget_handles();
  j.copies.run = [](const fake::Launched& launch) {
    auto* at = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[0]));
    auto* read = reinterpret_cast<unsigned*>(value_of<CUdeviceptr>(launch.parameters[1]));
    for (unsigned n = 0; n < points; n += 2)
      at[n] = read[n];
  };
  for (unsigned k = 0; k < 200; ++k) {
    if (k == 100) j.settle(); // entries were loaded anew
    j.half();
    EXPECT_EQ(j.engine.launch(j.copying(), direct), CUDA_SUCCESS);
    for (unsigned n = 0; n < points; n += 2)
      j.x[n] = j.y[n];
  }
  j.expect_same();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
}

// The contract says more than what is there.
TEST(MergeCopyKernel, NotWhereWhatIsCopiedIsNobodysMemory) {
  Copied j(0, 0);
  contract::Contract contract = j.copy_contract();
  contract.copy->elements.along[0].count = expression("p2s32,4096,+");
  j.module.globals[contract::symbol_of("c")] = contract::encode(contract);
  j.engine.forget_handles();
  j.pairs(100);
  j.settle(); // entries were loaded anew
  j.pairs(100);
  j.expect_same();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
}

TEST(MergeCopyKernel, NotWhereItIsNotKnownWhatAStepWrites) {
  Copied j;
  j.change_steps([](contract::Steps& steps) { steps.stored.reset(); });
  j.pairs(100);
  j.settle(); // entries were loaded anew
  j.pairs(100);
  j.expect_same();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
}

TEST(MergeCopyKernel, ALaunchWithoutItsCopyEndsTheRun) {
  for (const unsigned rim : {0U, 1U})
    for (const unsigned count : {0U, 1U, 5U, 6U, 7U, 8U, 11U, 12U, 13U, 17U}) {
      Copied j(rim, rim);
      j.pairs(count);
      j.half();
      j.expect_same();
      j.pairs(9); // begins anew
      j.expect_same();
    }
}

TEST(MergeCopyKernel, AnotherCopyEndsTheRun) {
  const auto ends = [](auto change) {
    for (const unsigned rim : {0U, 1U})
      for (const unsigned count : {3U, 8U, 9U}) {
        Copied j(rim, rim);
        j.pairs(count);
        j.half();
        const auto before = std::tuple(j.to, j.from, j.m, j.stream);
        change(j);
        const bool is_other_place = j.to != std::get<0>(before) || j.from != std::get<1>(before);
        EXPECT_EQ(j.engine.launch(j.copying(), direct), CUDA_SUCCESS);
        if (!is_other_place) {
          std::copy(j.y.begin() + rim, j.y.begin() + j.m - rim, j.x.begin() + rim);
          j.expect_as_launched_singly();
        }
        EXPECT_EQ(launched().back().entry, "c") << "behind all that waited";
      }
  };
  ends([](Copied& c) { c.m -= 4; });
  ends([](Copied& c) { std::swap(c.to, c.from); });
  ends([](Copied& c) { c.stream = reinterpret_cast<CUstream>(0x99); });
}

TEST(MergeCopyKernel, AnotherShapeEndsTheRun) {
  Copied j;
  j.pairs(8);
  j.half();
  Request other = j.copying();
  other.grid[0] = 5;
  EXPECT_EQ(j.engine.launch(other, direct), CUDA_SUCCESS);
  std::copy(j.y.begin() + 1, j.y.end() - 1, j.x.begin() + 1);
  j.expect_as_launched_singly();
}

TEST(MergeCopyKernel, TwoCopiesEndTheRun) {
  for (const unsigned count : {1U, 7U, 8U}) {
    Copied j;
    j.pairs(count);
    j.copy();
    j.expect_as_launched_singly();
    j.pairs(count);
    j.half();
    j.half();
    j.expect_same();
  }
}

TEST(MergeCopyKernel, NotFromAnotherThread) {
  Copied j;
  j.pairs(8);
  j.half();
  std::thread([&] { j.copy(); }).join();
  j.expect_as_launched_singly();
}

TEST(MergeCopyKernel, EveryKStepsSomethingElse) {
  for (const unsigned rim : {0U, 1U})
    for (unsigned k = 1; k <= 40; k += k < 20 ? 1 : 7) {
      Copied j(rim, rim);
      unsigned late = 0;
      for (unsigned n = 0; n < 16; ++n) {
        j.pairs(k);
        const std::size_t made = gpu().launches.size();
        j.engine.flush();
        if (n >= 3) late += static_cast<unsigned>(gpu().launches.size() - made);
        j.expect_as_launched_singly();
        j.x[0] += 1; // a rim that the program changes: ours has it at the next run
        ++*reinterpret_cast<unsigned*>(j.in);
        j.y[points - 1] ^= 5;
        reinterpret_cast<unsigned*>(j.out)[points - 1] ^= 5;
      }
      EXPECT_EQ(late, 0U) << k;
      if (k > 5) {
        EXPECT_THAT(Stencil::made(), testing::AnyOf(HasSubstr("s3"), HasSubstr("s5"))) << k;
      }
    }
}

// --- memory -------------------------------------------------------------------------------------

TEST(MergeCopyKernel, NotWithoutRoom) {
  Copied j;
  gpu().memory.clear(); // what was allocated for the runs before
  auto& a = gpu().allocate(4 * points);
  auto& b = gpu().allocate(4 * points);
  std::ranges::copy(j.x, reinterpret_cast<unsigned*>(a.data()));
  std::ranges::copy(j.y, reinterpret_cast<unsigned*>(b.data()));
  j.to = j.in = reinterpret_cast<CUdeviceptr>(a.data());
  j.from = j.out = reinterpret_cast<CUdeviceptr>(b.data());
  const std::size_t room = std::exchange(gpu().room, 0);
  j.pairs(40);
  j.expect_same();
  gpu().room = room;
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
}

TEST(MergeCopyKernel, OnlyOfTheDevicesOwnMemory) {
  Copied j;
  gpu().managed = true;
  j.pairs(40);
  j.expect_same();
  EXPECT_THAT(Stencil::made(), Not(HasSubstr("s5")));
}

// in at 0x1000, out at 0x2000, both of 0x100 bytes; 0x10 to 0xf0 of out are stored.
struct CoveringLaunch {
  std::uint64_t to = 0x1000, from = 0x2000, bytes = 0x100, coefficients = 0x4000;
  std::uint64_t end_of_out = 0x2100;
  [[nodiscard]] CopyBack::Covers covers() const {
    contract::Steps steps{.swaps = {{0, 1}}};
    for (const unsigned parameter : {0U, 1U, 2U})
      steps.touched.push_back({parameter, parameter != 2, {}, {}});
    const contract::FittedSteps fitted{.ranges = {{0x1000, 0x1100, true},
                                                  {0x2000, end_of_out, true},
                                                  {coefficients, coefficients + 0x100, false}},
                                       .stored = {.first = 0x2010, .bytes = 4, .along = {{4, 56}}}};
    const std::array copies{CopyBack({.copy = {to, from, bytes, nullptr}})};
    return CopyBack::covers(copies, steps, fitted);
  }
};

TEST(CopyBack, CoversWhatIsCopied) {
  using Covers = CopyBack::Covers;
  EXPECT_EQ(CoveringLaunch{}.covers(), Covers::all);
  EXPECT_EQ((CoveringLaunch{.bytes = 0xff}.covers()), Covers::stored);
  EXPECT_EQ((CoveringLaunch{.to = 0x1004, .from = 0x2004, .bytes = 0xfc}.covers()), Covers::stored);
  EXPECT_EQ((CoveringLaunch{.to = 0x1010, .from = 0x2010, .bytes = 0xe0}.covers()), Covers::stored);
  EXPECT_EQ((CoveringLaunch{.to = 0x1010, .from = 0x2010, .bytes = 0xdf}.covers()),
            Covers::nothing);
  EXPECT_EQ((CoveringLaunch{.to = 0x1014, .from = 0x2014, .bytes = 0xe0}.covers()),
            Covers::nothing);
}

// What is read besides would be another one behind each copy.
TEST(CopyBack, CoversNothingWhereOtherArraysAreCopied) {
  using Covers = CopyBack::Covers;
  for (const std::uint64_t bytes : {0x100, 0xff}) {
    const Covers covers = bytes == 0x100 ? Covers::all : Covers::stored;
    for (const std::uint64_t array : {0x1000, 0x2000}) {
      EXPECT_EQ((CoveringLaunch{.bytes = bytes, .coefficients = array + bytes}.covers()), covers);
      EXPECT_EQ((CoveringLaunch{.bytes = bytes, .coefficients = array - 0x100}.covers()), covers);
      EXPECT_EQ((CoveringLaunch{.bytes = bytes, .coefficients = array + bytes - 1}.covers()),
                Covers::nothing);
      EXPECT_EQ((CoveringLaunch{.bytes = bytes, .coefficients = array - 0xff}.covers()),
                Covers::nothing);
    }
  }
  EXPECT_EQ((CoveringLaunch{.bytes = 0x1001}.covers()), Covers::nothing) << "onto itself";
}

// Ours is as large as what is touched of the array that is written.
TEST(CopyBack, CoversNothingWhereTheArraysAreTouchedElsewhere) {
  EXPECT_EQ((CoveringLaunch{.bytes = 0xff, .end_of_out = 0x20ff}.covers()),
            CopyBack::Covers::nothing);
}

// --- errors -------------------------------------------------------------------------------------

// The error is the program's to see, of each launch.
TEST(MergeCopyKernel, ACopyThatDoesNotLaunchIsNotPutOff) {
  Copied j;
  j.copies.result = CUDA_ERROR_INVALID_VALUE;
  for (unsigned k = 0; k < 40; ++k) {
    EXPECT_EQ(j.engine.launch(j.request(), direct), CUDA_SUCCESS);
    const CUresult result = j.engine.launch(j.copying(), direct);
    if (k > 0) {
      EXPECT_EQ(result, CUDA_ERROR_INVALID_VALUE) << k;
    }
  }
}

TEST(MergeCopyKernel, EntriesThatDoNotLaunchAreDoneSingly) {
  for (const unsigned rim : {0U, 1U}) {
    Copied j(rim, rim);
    j.five.result = j.three.result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    j.pairs(30);
    j.expect_same();
    j.five.result = CUDA_SUCCESS;
    j.pairs(30);
    j.expect_same();
  }
}

// --- graphs, checks -----------------------------------------------------------------------------

TEST(MergeCopyKernel, NothingIsPutOffWhileItIsCaptured) {
  Copied j;
  gpu().capturing = true;
  for (unsigned k = 0; k < 20; ++k) {
    j.half();
    EXPECT_EQ(Stencil::made(), "s");
    j.copy();
    EXPECT_EQ(Stencil::made(), "c");
  }
  gpu().capturing = false;
  j.expect_same();
}

TEST(MergeCopyKernel, IsChecked) {
  for (const unsigned rim : {0U, 1U}) {
    Copied j(rim, rim, "no-images,steps=60000000,check");
    j.pairs(12);
    j.expect_same();
    EXPECT_THAT(Stencil::made(), HasSubstr("s5"));
  }
}

TEST(MergeCopyKernel, AWrongEntryIsCaught) {
  for (const unsigned rim : {0U, 1U}) {
    Copied j(rim, rim, "no-images,steps=60000000,check");
    j.five.run = [](const auto& launch) { test::step(launch, 4); };
    const auto wrong = [&] {
      j.pairs(12);
      j.engine.flush();
    };
    EXPECT_EXIT(wrong(), testing::ExitedWithCode(86), "several steps in one differs in buffer");
  }
}

// --- copies by the driver -----------------------------------------------------------------------

// As by a kernel: of the interior only.
TEST(MergeCopyKernel, OrTheDriverCopiesTheInterior) {
  for (const bool is_less : {false, true}) {
    Copied j;
    const DeviceCopy back{j.in + 4, j.out + 4, 4 * (points - 2) - (is_less ? 4 : 0),
                          CU_STREAM_LEGACY};
    for (unsigned count = 0; count < 100; ++count) {
      j.half();
      if (!j.engine.take_copy(back))
        driver().copy_on_device(back.to, back.from, back.bytes, back.stream);
      std::copy_n(j.y.begin() + 1, back.bytes / 4, j.x.begin() + 1);
      if (count % 23 == 0) j.expect_same();
    }
    j.expect_same();
    EXPECT_EQ(Stencil::made().find("s5") == std::string::npos, is_less);
  }
}

} // namespace
} // namespace ptxasw::launch::copy_kernel_test
