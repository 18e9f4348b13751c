// Versions that are prepared while a program runs with its own image, on the fake driver: its
// kernels stay what they are to it, and others run.
#include "images_fixture.hpp"
#include "passes_case.hpp"

#include "image/seen_sequences.hpp"
#include "launch/engine/engine.hpp"
#include "launch/images/late_versions.hpp"
#include "launch/images/preparer.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

using test::gpu;
using testing::ElementsAre;

class LateVersionsTest : public ImagesTest {
protected:
  LateVersionsTest() {
    image_ = image_of_test();
    EXPECT_EQ(cuModuleLoadData(&module_, image_.data()), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function_, module_, "k"), CUDA_SUCCESS);
    EXPECT_EQ(launched_entry(function_), "k");
  }
  ~LateVersionsTest() override { cuModuleUnload(module_); }
  [[nodiscard]] image::ImageKey key() const {
    return image::key_of(std::as_bytes(std::span(image_)), "sm_90");
  }
  static LateVersions& late() { return engine()->images()->late(); }
  static image::Prepared prepared(const std::string& tag, std::vector<std::string> alone,
                                  std::int64_t when = 1, const std::string& linked = "") {
    image::Prepared made{.cubin = test::machine_code(tag), .linked = linked, .chip = "sm_90"};
    for (const char* name : {"k", "l"})
      made.kernels.push_back(
          {.name = name, .versions = 2, .is_alone = std::ranges::find(alone, name) != alone.end()});
    made.when = when;
    return made;
  }
  // As `ptxasw prepare` does, and the thread that waits for it; and the program waits.
  void prepare_now(const std::string& tag, const std::vector<std::string>& alone,
                   std::int64_t when = 1, const std::string& linked = "") const {
    image::Prepared made = prepared(tag, alone, when, linked);
    ASSERT_TRUE(image::keep(folder() + "/ptxasw", 1 << 30, key(), made));
    late().take(key(), std::move(made));
    cuCtxSynchronize();
  }
  std::string image_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

TEST_F(LateVersionsTest, AreLaunchedFromBesideTheModule) {
  late().await(module_, {key(), {}});
  EXPECT_EQ(launched_entry(function_), "k");
  prepare_now("prepared", {"k"});
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  EXPECT_THAT(gpu().loaded, ElementsAre("own", "prepared"));
  expect_own_view(module_);
}

// Loading waits for what runs, and that may wait for the program.
TEST_F(LateVersionsTest, AreLoadedWhereTheProgramWaitedForItsContext) {
  late().await(module_, {key(), {}});
  late().take(key(), prepared("prepared", {"k"}));
  EXPECT_EQ(launched_entry(function_), "k");
  CUfunction other = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&other, module_, "l"), CUDA_SUCCESS);
  engine()->forget_handles();
  EXPECT_EQ(launched_entry(function_), "k");
  gpu().synchronized = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  gpu().synchronized = CUDA_SUCCESS;
  EXPECT_EQ(launched_entry(function_), "k");
  EXPECT_THAT(gpu().loaded, ElementsAre("own"));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_THAT(gpu().loaded, ElementsAre("own", "prepared"));
  EXPECT_FALSE(late().load_here()); // once
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(1));
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  EXPECT_THAT(gpu().loaded, ElementsAre("own", "prepared"));
}

TEST_F(LateVersionsTest, AreLoadedIntoTheContextThatWasWaitedFor) {
  late().await(module_, {key(), {}});
  late().take(key(), prepared("prepared", {"k"}));
  cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(2)); // another one than the current one
  EXPECT_EQ(launched_entry(function_), "k");
  cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(1));
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
}

// A copy to the host stands behind all blocking streams; others may have kernels that still run.
TEST_F(LateVersionsTest, AreLoadedBehindACopyToTheHost) {
  late().await(module_, {key(), {}});
  late().take(key(), prepared("prepared", {"k"}));
  const std::vector<char> from(8);
  std::vector<char> to(8);
  const auto copy = [&](std::size_t bytes) {
    EXPECT_EQ(cuMemcpyDtoH_v2(to.data(), reinterpret_cast<CUdeviceptr>(from.data()), bytes),
              CUDA_SUCCESS);
    return launched_entry(function_);
  };
  EXPECT_EQ(copy(0), "k"); // there is nothing to wait for
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  EXPECT_EQ(copy(8), "k__ptxasw_x4");
}

TEST_F(LateVersionsTest, AreNotLoadedBehindACopyWhereAStreamIsNotBlocking) {
  late().await(module_, {key(), {}});
  late().take(key(), prepared("prepared", {"k"}));
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  char to = 0, from = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&to, reinterpret_cast<CUdeviceptr>(&from), 1), CUDA_SUCCESS);
  EXPECT_EQ(launched_entry(function_), "k");
  cuCtxSynchronize();
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
}

// It was loaded of what was prepared.
TEST_F(LateVersionsTest, AreNotLoadedBesideThemselves) {
  late().await(module_, {key(), {}});
  prepare_now("prepared", {"k"});
  CUmodule again = nullptr;
  ASSERT_EQ(cuModuleLoadData(&again, image_.data()), CUDA_SUCCESS);
  late().await(again, {key(), image::Edition{.when = 1}});
  cuCtxSynchronize();
  EXPECT_NE(late().beside(reinterpret_cast<CUcontext>(1), module_).module, nullptr);
  EXPECT_EQ(late().beside(reinterpret_cast<CUcontext>(1), again).module, nullptr);
  cuModuleUnload(again);
}

TEST_F(LateVersionsTest, OfALibrary) {
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, image_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "k"), CUDA_SUCCESS);
  late().await(library, {key(), {}});
  prepare_now("prepared", {"k"});
  EXPECT_EQ(launched_entry(reinterpret_cast<CUfunction>(kernel)), "k__ptxasw_x4");
  EXPECT_EQ(launched_entry(function_), "k"); // of another module of the same image
}

TEST_F(LateVersionsTest, OfAKernelThatNeedsItsModuleAreNotLaunched) {
  late().await(module_, {key(), {}});
  prepare_now("prepared", {"l"});
  EXPECT_EQ(launched_entry(function_), "k");
}

TEST_F(LateVersionsTest, OfATextAreNotLaunched) {
  late().await(module_, {key(), {}});
  prepare_now("prepared", {"k"}, 1, "what the linker has to make");
  EXPECT_EQ(launched_entry(function_), "k");
  EXPECT_THAT(gpu().loaded, ElementsAre("own"));
}

TEST_F(LateVersionsTest, OfAnImageThatNobodyAwaitsAreNotLaunched) {
  prepare_now("prepared", {"k"});
  EXPECT_EQ(launched_entry(function_), "k");
  late().await(module_, {key(), {}});
  late().forget(module_);
  prepare_now("prepared", {"k"}, 2);
  EXPECT_EQ(launched_entry(function_), "k");
}

TEST_F(LateVersionsTest, ThatTheDriverDoesNotTakeAreNotLaunched) {
  late().await(module_, {key(), {}});
  prepare_now("unknown", {"k"});
  EXPECT_EQ(launched_entry(function_), "k");
}

// Its modules are gone, and a handle may come again as another one's.
TEST_F(LateVersionsTest, OfAContextThatGoesAreForgotten) {
  late().await(module_, {key(), {}});
  late().forget_modules();
  prepare_now("prepared", {"k"});
  EXPECT_EQ(launched_entry(function_), "k");
  late().await(module_, {key(), {}});
  cuCtxSynchronize();
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  late().forget_modules();
  engine()->forget_handles();
  EXPECT_EQ(launched_entry(function_), "k");
}

TEST_F(LateVersionsTest, OfAModuleThatGoesAreForgotten) {
  late().await(module_, {key(), {}});
  prepare_now("prepared", {"k"});
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  late().forget(module_);
  engine()->forget_handles();
  EXPECT_EQ(launched_entry(function_), "k");
}

// Editions come, and other threads launch, while the program waits.
TEST_F(LateVersionsTest, ThreadsOfAllKinds) {
  late().await(module_, {key(), {}});
  std::atomic<bool> ends{false};
  std::vector<std::thread> all;
  for (int n = 0; n < 2; ++n)
    all.emplace_back([&] {
      for (const auto context = reinterpret_cast<CUcontext>(1); !ends;)
        if (const auto beside = late().beside(context, module_); beside.module != nullptr) {
          EXPECT_TRUE(beside.kernels->contains("k"));
        }
    });
  all.emplace_back([&] {
    for (int n = 1; n <= 200; ++n)
      late().take(key(), prepared("prepared", {"k"}, n));
    ends = true;
  });
  while (!ends)
    cuCtxSynchronize();
  for (std::thread& thread : all)
    thread.join();
  cuCtxSynchronize();
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
}

// A thread of ours may be at it when the program forks, and the child ends as others do.
TEST_F(LateVersionsTest, NoLockIsLeftBehindByAFork) {
  Engine own(read_settings("steps"));
  std::atomic<bool> ends{false};
  std::thread looks([&] {
    while (!ends)
      own.look_for_sequences();
  });
  for (int n = 0; n < 10; ++n) {
    own.before_fork(); // as the handlers do for the library's own engine
    const pid_t child = ::fork();
    own.behind_fork(child == 0);
    if (child == 0) {
      ::alarm(20);
      own.look_for_sequences();
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ends = true;
  looks.join();
}

// One that was there when the image was loaded is what the program has, or has not.
TEST_F(LateVersionsTest, AreTakenOfANewEditionAlone) {
  gpu().contents["better"] = [](fake::Driver& g, fake::Module& m) {
    gpu().contents["prepared"](g, m);
    g.add(m, "k__ptxasw_x8", {8, 4, 12});
    contract::Contract contract = test::contract_of("k");
    contract.variants[2].entry = "k__ptxasw_x8";
    m.globals[contract::symbol_of("k")] = contract::encode(contract);
  };
  late().await(module_, {key(), image::Edition{.when = 1}});
  prepare_now("prepared", {"k"}, 1);
  EXPECT_EQ(launched_entry(function_), "k");
  prepare_now("prepared", {"k"}, 2);
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x4");
  prepare_now("better", {"k"}, 3);
  EXPECT_EQ(launched_entry(function_), "k__ptxasw_x8");
  EXPECT_THAT(gpu().loaded, ElementsAre("own", "prepared", "better"));
}

struct Sequences : test::PassesTest {
  using test::PassesTest::sequence_of;
};

// Entries for passes have the work of all their stages in them.
TEST_F(LateVersionsTest, OfSequencesNeedAllTheirStagesAlone) {
  gpu().contents["prepared"] = [](fake::Driver& g, fake::Module& m) {
    g.add(m, "k", {8, 4});
    contract::Contract contract = test::contract_of("k");
    contract.variants.resize(1);
    contract.parameters = 3;
    contract.parameter_bytes = 20;
    contract.sequences = {Sequences::sequence_of("kl", 1), Sequences::sequence_of("kk", 1)};
    m.globals[contract::symbol_of("k")] = contract::encode(contract);
  };
  late().await(module_, {key(), {}});
  const auto entries = [&] {
    Kernels kernels;
    kernels.look_beside(late());
    std::vector<std::string> all;
    for (const contract::Sequence& sequence : kernels.find(function_)->contract.sequences)
      all.push_back(sequence.entry);
    return all;
  };
  prepare_now("prepared", {"k"});
  EXPECT_THAT(entries(), ElementsAre("kk_passes"));
  prepare_now("prepared", {"k", "l"}, 2);
  EXPECT_THAT(entries(), ElementsAre("kl_passes", "kk_passes"));
}

// Its thread may outlive the test.
struct Watched {
  explicit Watched(const std::string& program)
      : preparer(program, folder() + "/ptxasw", [this](const auto&) { ++news; }) {}
  [[nodiscard]] bool has_news(int wanted) const {
    for (int n = 0; n < 500 && news < wanted; ++n)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return news == wanted;
  }
  std::atomic<int> news{0};
  Preparer preparer;
};

// Who prepares says nothing when it is done.
TEST_F(LateVersionsTest, AreNoticedInTheStore) {
  auto& watched = *new Watched("/bin/true");
  prepare_now("prepared", {"k"}, 1);
  ASSERT_TRUE(watched.preparer.add("sm_90", std::as_bytes(std::span(image_)),
                                   {key(), image::Edition{.when = 1}}, Preparer::When::now));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(watched.news, 0); // the edition that was known
  prepare_now("prepared", {"k"}, 2);
  EXPECT_TRUE(watched.has_news(1));
}

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

// A program may load images all the time, and preparing them may take long.
TEST_F(LateVersionsTest, AreWaitedForByOneThread) {
  auto& watched = *new Watched("/bin/true");
  std::ptrdiff_t first = 0; // with what a sanitizer has beside it
  for (int n = 0; n < 4; ++n) {
    const std::string image = "image " + std::to_string(n);
    ASSERT_TRUE(watched.preparer.add("sm_90", std::as_bytes(std::span(image)),
                                     {image::key_of(std::as_bytes(std::span(image)), "sm_90"), {}},
                                     Preparer::When::now));
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (n == 0) first = threads_of_process();
  }
  EXPECT_EQ(threads_of_process(), first);
}

// What was prepared before its launches were seen is prepared again.
TEST_F(LateVersionsTest, AreMadeForSequencesOfThisRun) {
  const std::string program = folder() + "/preparer", asked = program + ".asked";
  std::ofstream(program) << "#!/bin/sh\necho \"$*\" >> " << asked << "\n";
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  auto& watched = *new Watched(program);
  const contract::SeenSequence seen{.kernels = {"k", "l"}, .classes = {}, .varying = {}};
  watched.preparer.look_for_sequences(
      [seen] { return Preparer::Seen{.sequences = {seen}, .are_all = true}; });
  prepare_now("prepared", {"k"}, 1);
  ASSERT_TRUE(watched.preparer.add("sm_90", std::as_bytes(std::span(image_)),
                                   {key(), image::Edition{.when = 1}},
                                   Preparer::When::once_sequences_are_seen));
  std::string words; // the file is there before its line is
  for (int n = 0; n < 1000 && !words.ends_with('\n'); ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream file(asked);
    words.assign(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_THAT(words, testing::HasSubstr("prepare --chip=sm_90 --background --image="));
  EXPECT_THAT(image::seen_in(folder() + "/ptxasw"), ElementsAre(seen));
  EXPECT_EQ(watched.news, 0);
  auto made = image::find(folder() + "/ptxasw", key());
  ASSERT_TRUE(made);
  made->sequences = image::hash_of({seen}, made->kernels);
  ASSERT_TRUE(image::keep(folder() + "/ptxasw", 1 << 30, key(), *made));
  EXPECT_TRUE(watched.has_news(1));
}

} // namespace
} // namespace ptxasw::launch
