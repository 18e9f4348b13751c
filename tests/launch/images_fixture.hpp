// Images on the fake driver, whose modules have two kernels and a variable, and a store.
#pragma once

#include "fat.hpp"
#include "program.hpp"

#include "launch/images/images.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#undef cuModuleGetGlobal

namespace ptxasw::launch {

// The launcher is made once in a process, and so is its folder.
class StoreFolder {
public:
  StoreFolder() {
    if (::mkdtemp(name_.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    ::setenv("XDG_CACHE_HOME", name_.c_str(), 1);
  }
  StoreFolder(const StoreFolder&) = delete;
  StoreFolder& operator=(const StoreFolder&) = delete;
  ~StoreFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  std::string name_ = (std::filesystem::temp_directory_path() / "ptxasw-images-XXXXXX").string();
};

inline const std::string& folder() {
  static const StoreFolder made;
  return made.name();
}

class ImagesTest : public testing::Test {
protected:
  ImagesTest() {
    folder();
    test::gpu().contents["own"] = [](fake::Driver& g, fake::Module& m) {
      g.add(m, "k", {8, 4});
      g.add(m, "l", {8, 4});
      m.globals["table"] = "1234";
    };
    test::gpu().contents["prepared"] = [](fake::Driver& g, fake::Module& m) {
      g.add(m, "k", {8, 4});
      g.add(m, "l", {8, 4});
      g.add(m, "k__ptxasw_x2", {8, 4, 12});
      g.add(m, "k__ptxasw_x4", {8, 4, 12});
      m.globals["table"] = "1234";
      m.globals[contract::symbol_of("k")] = contract::encode(test::contract_of("k"));
    };
    test::gpu().loaded.clear();
    test::gpu().launches.clear();
  }
  void TearDown() override {
    test::gpu().tool = nullptr;
    test::gpu().linker = nullptr;
    test::gpu().is_lazy = false;
    test::gpu().capabilities = {90};
    test::gpu().devices = 1;
    test::gpu().contents.clear();
    test::gpu().modules.clear();
    test::gpu().kernels.clear();
    test::gpu().libraries.clear();
    std::filesystem::remove_all(folder() + "/ptxasw");
  }
  // As if `ptxasw prepare` had been there. `linked`: of a text.
  static void prepare(const std::string& image, const std::string& tag,
                      image::Reason reason = image::Reason::none, const std::string& linked = "") {
    image::Prepared prepared;
    prepared.reason = reason;
    prepared.linked = linked;
    if (reason == image::Reason::none) prepared.cubin = test::machine_code(tag);
    prepared.kernels = {{"l", 0, image::Reason::no_versions, ""},
                        {"k", 2, image::Reason::none, ""}};
    prepared.chip = "sm_90";
    ASSERT_TRUE(image::keep(folder() + "/ptxasw", 1 << 30,
                            image::key_of(std::as_bytes(std::span(image)), "sm_90"), prepared));
  }
  // Each test has images of its own: what is known of one is kept for the process.
  [[nodiscard]] static std::string image_of_test(const std::string& tag = "own") {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    return test::fat_binary({{1, 90, std::string(".version 9.0\n// ") + test->name()},
                             {2, 90, test::machine_code(tag)}});
  }
};

inline std::vector<std::string> names_of(CUmodule module) {
  unsigned count = 0;
  EXPECT_EQ(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
  std::vector<CUfunction> all(count + 3, nullptr);
  EXPECT_EQ(cuModuleEnumerateFunctions(all.data(), count + 3, module), CUDA_SUCCESS);
  std::vector<std::string> names;
  for (CUfunction each : all) {
    const char* name = "";
    if (each != nullptr && driver().func_get_name(&name, each) == CUDA_SUCCESS)
      names.emplace_back(name);
  }
  EXPECT_EQ(names.size(), count);
  return names;
}

// The program's own kernels and variables, and nothing else.
inline void expect_own_view(CUmodule module) {
  EXPECT_THAT(names_of(module), testing::ElementsAre("k", "l"));
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleGetFunction(&function, module, "k__ptxasw_x4"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr at = 0;
  std::size_t size = 0;
  EXPECT_EQ(cuModuleGetGlobal_v2(&at, &size, module, "table"), CUDA_SUCCESS);
  EXPECT_EQ(size, 4U);
  EXPECT_EQ(cuModuleGetGlobal_v2(&at, &size, module, contract::symbol_of("k").c_str()),
            CUDA_ERROR_NOT_FOUND);
}

inline std::string launched_entry(CUfunction function) {
  std::vector<unsigned char> memory(20000);
  auto pointer = reinterpret_cast<CUdeviceptr>(memory.data());
  unsigned n = 5000;
  void* parameters[] = {&pointer, &n};
  EXPECT_EQ(cuLaunchKernel(function, 50, 1, 1, 100, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_SUCCESS);
  return test::launched().at(0).entry;
}

} // namespace ptxasw::launch
