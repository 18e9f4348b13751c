// PTX texts: what was prepared of one stands in where the driver's linker makes of it what was made
// of it here, and nowhere else.
#include "images_fixture.hpp"

#include "../image/recorded.hpp"
#include "image/compiled.hpp"
#include "launch/driver/compiled_text.hpp"
#include "launch/images/image_table.hpp"
#include "sass/cubin.hpp"

#include <fstream>

namespace ptxasw::launch {
namespace {

using testing::ElementsAre;

class TextsTest : public ImagesTest {
protected:
  TextsTest() {
    test::gpu().linker = [this](const std::string& of) {
      EXPECT_EQ(of, text);
      return made;
    };
    test::gpu().calls.clear();
  }
  static std::string machine_code() {
    const std::string image = image::recorded("alone");
    const auto choice = image::choose(image::probe(image::bytes_of(image)), {90});
    const image::Bytes code = choice.code->stored;
    return {reinterpret_cast<const char*>(code.data()), code.size()};
  }
  // A text by itself, and what came of it when it was prepared.
  void prepare_text() { prepare(text, "prepared", image::Reason::none, image::fingerprint(cubin)); }
  [[nodiscard]] std::string load() const {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), CUDA_SUCCESS);
    expect_own_view(module);
    return test::gpu().loaded.back();
  }
  [[nodiscard]] static unsigned asked_linker() { return test::gpu().calls["cuLinkCreate"]; }
  // As another process would have it.
  [[nodiscard]] std::string code_in_table() const {
    Images images(true);
    images.look_at(text.c_str(), Images::Owner::module, true);
    return images.finish().at(0).code;
  }

  std::string text =
      std::string(".version 9.0\n.target sm_90\n.address_size 64\n// fake:own\n// ") +
      testing::UnitTest::GetInstance()->current_test_info()->name() + '\n';
  const std::string cubin = machine_code();
  std::string made = cubin; // by the driver's linker
};

TEST_F(TextsTest, OneThatNobodyPreparedIsTheDriversAlone) {
  EXPECT_EQ(load(), "own");
  EXPECT_EQ(asked_linker(), 0U);
  EXPECT_EQ(code_in_table(), "not-prepared");
}

TEST_F(TextsTest, EachWayToLoadOne) {
  prepare_text();
  const std::string file = folder() + "/text.ptx";
  std::ofstream(file) << text;
  CUmodule module = nullptr;
  const auto expect = [&](CUresult result) {
    ASSERT_EQ(result, CUDA_SUCCESS);
    EXPECT_EQ(std::exchange(test::gpu().loaded, {}).back(), "prepared");
    expect_own_view(module);
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    EXPECT_EQ(launched_entry(function), "k__ptxasw_x4");
  };
  expect(cuModuleLoadData(&module, text.c_str()));
  expect(cuModuleLoad(&module, file.c_str()));
  CUjit_option option = CU_JIT_OPTIMIZATION_LEVEL;
  void* level = reinterpret_cast<void*>(4);
  expect(cuModuleLoadDataEx(&module, text.c_str(), 1, &option, &level));
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  expect(cuLibraryGetModule(&module, library));
  ASSERT_EQ(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  expect(cuLibraryGetModule(&module, library));
  EXPECT_EQ(asked_linker(), 1U);
  EXPECT_EQ(code_in_table(), "replaced");
}

TEST_F(TextsTest, TheLinkerIsAskedOnceForAllProcesses) {
  prepare_text();
  Images first(true);
  Images::Load found = first.look_at(text.c_str(), Images::Owner::module, true);
  EXPECT_TRUE(found.is_to_be_compared);
  first.compared(found, made);
  EXPECT_NE(found.by, nullptr);
  Images second(true);
  found = second.look_at(text.c_str(), Images::Owner::module, true);
  EXPECT_FALSE(found.is_to_be_compared);
  EXPECT_NE(found.by, nullptr);
}

// One bit of the machine code.
TEST_F(TextsTest, ADriverThatCompilesOtherwise) {
  const sass::Cubin parts(made);
  const std::string_view code = parts.find(".text.scale")->bytes;
  made[static_cast<std::size_t>(code.data() - made.data()) + 20] ^= 1;
  prepare_text();
  EXPECT_EQ(load(), "own");
  EXPECT_EQ(load(), "own");
  EXPECT_THAT(test::gpu().loaded, ElementsAre("own", "own"));
  EXPECT_EQ(asked_linker(), 1U);
  EXPECT_EQ(code_in_table(), "other-compiler");
}

TEST_F(TextsTest, ALinkerThatMakesNothing) {
  made.clear();
  prepare_text();
  EXPECT_EQ(load(), "own");
  EXPECT_EQ(load(), "own");
  EXPECT_EQ(asked_linker(), 1U);
  EXPECT_EQ(code_in_table(), "replaced"); // another process asks again
}

// A program built for an older chip alone: the driver compiles the PTX that is in it.
TEST_F(TextsTest, InAFatBinary) {
  const std::string older = test::fat_binary({{1, 80, text}});
  text = older;
  prepare_text();
  const test::Wrapper wrapper{.data = older.data()};
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(test::gpu().loaded.back(), "prepared");
  ASSERT_EQ(cuModuleLoadFatBinary(&module, older.data()), CUDA_SUCCESS);
  EXPECT_EQ(test::gpu().loaded.back(), "prepared");
  expect_own_view(module);
  EXPECT_EQ(asked_linker(), 1U);
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = reinterpret_cast<void*>(32);
  ASSERT_EQ(cuModuleLoadDataEx(&module, older.data(), 1, &option, &value), CUDA_SUCCESS);
  EXPECT_EQ(test::gpu().loaded.back(), "own");
}

TEST_F(TextsTest, InAFatBinaryThatTheDriverCompilesOtherwise) {
  const std::string older = test::fat_binary({{1, 80, text}});
  text = older;
  made.clear();
  prepare_text();
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, older.data()), CUDA_SUCCESS);
  EXPECT_EQ(test::gpu().loaded.back(), "own");
  EXPECT_EQ(asked_linker(), 1U);
}

TEST_F(TextsTest, OptionsForTheCompiler) {
  prepare_text();
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  void* value = reinterpret_cast<void*>(32);
  ASSERT_EQ(cuModuleLoadDataEx(&module, text.c_str(), 1, &option, &value), CUDA_SUCCESS);
  EXPECT_EQ(test::gpu().loaded.back(), "own");
  EXPECT_EQ(asked_linker(), 0U);
}

TEST(CompilesAsUsual, AllThatMayChangeWhatIsMade) {
  const auto usual = [](CUjit_option option, std::uintptr_t number) {
    void* value = reinterpret_cast<void*>(number);
    return compiles_as_usual(&option, &value, 1);
  };
  EXPECT_TRUE(compiles_as_usual(nullptr, nullptr, 0));
  EXPECT_TRUE(usual(CU_JIT_ERROR_LOG_BUFFER, 0x1000));
  EXPECT_TRUE(usual(CU_JIT_WALL_TIME, 0));
  EXPECT_TRUE(usual(CU_JIT_OPTIMIZATION_LEVEL, 4));
  EXPECT_FALSE(usual(CU_JIT_OPTIMIZATION_LEVEL, 3));
  EXPECT_TRUE(usual(CU_JIT_GENERATE_LINE_INFO, 0));
  EXPECT_FALSE(usual(CU_JIT_GENERATE_LINE_INFO, 1));
  EXPECT_FALSE(usual(CU_JIT_GENERATE_DEBUG_INFO, 1));
  EXPECT_TRUE(usual(CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_NONE));
  EXPECT_FALSE(usual(CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CG));
  EXPECT_FALSE(usual(CU_JIT_LOG_VERBOSE, 1));
  EXPECT_FALSE(usual(CU_JIT_TARGET, 90));
  EXPECT_FALSE(usual(CU_JIT_THREADS_PER_BLOCK, 128));
  EXPECT_FALSE(usual(CU_JIT_FMA, 0));
  EXPECT_FALSE(usual(CU_JIT_GLOBAL_SYMBOL_COUNT, 1));
}

} // namespace
} // namespace ptxasw::launch
