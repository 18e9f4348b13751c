// What is loaded in the place of the program's images, and what the program sees of it: on the fake
// driver, through the hooks, as each function that loads images is called.
#include "images_fixture.hpp"

#include "launch/images/image_table.hpp"
#include "launch/images/images.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sys/mman.h>

#undef cuModuleGetGlobal
#undef cuGetProcAddress

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::usual_image;
using testing::ElementsAre;
using testing::HasSubstr;

void* symbol_of(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  return ::dlsym(library, name);
}

void* asked(const char* name) {
  using Get = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  void* found = nullptr;
  reinterpret_cast<Get>(symbol_of("cuGetProcAddress_v2"))(name, &found, 13000, 0, nullptr);
  return found;
}

TEST_F(ImagesTest, EachWayToLoadAModule) {
  const std::string image = image_of_test(), file = folder() + "/image.fatbin";
  std::ofstream(file, std::ios::binary) << image;
  prepare(image, "prepared");
  CUmodule module = nullptr;
  const auto expect = [&](CUresult result) {
    ASSERT_EQ(result, CUDA_SUCCESS);
    EXPECT_EQ(std::exchange(gpu().loaded, {}).back(), "prepared");
    expect_own_view(module);
    CUfunction function = nullptr;
    ASSERT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
    EXPECT_EQ(launched_entry(function), "k__ptxasw_x4");
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  };
  const test::Wrapper wrapper{.data = image.data()};
  expect(cuModuleLoadData(&module, image.data()));
  expect(cuModuleLoadData(&module, &wrapper));
  expect(cuModuleLoadFatBinary(&module, image.data()));
  expect(cuModuleLoad(&module, file.c_str()));
  expect(cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr));
  for (void* const found : {symbol_of("cuModuleLoadData"), asked("cuModuleLoadData"),
                            symbol_of("cuModuleLoadFatBinary"), asked("cuModuleLoadFatBinary")})
    expect(reinterpret_cast<CUresult (*)(CUmodule*, const void*)>(found)(&module, image.data()));
}

TEST_F(ImagesTest, EachWayToLoadALibrary) {
  const std::string image = image_of_test(), file = folder() + "/library.fatbin";
  std::ofstream(file, std::ios::binary) << image;
  prepare(image, "prepared");
  CUlibrary library = nullptr;
  const auto expect = [&](CUresult result) {
    ASSERT_EQ(result, CUDA_SUCCESS);
    EXPECT_EQ(std::exchange(gpu().loaded, {}).back(), "prepared");
    unsigned count = 0;
    EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
    EXPECT_EQ(count, 2U);
    std::vector<CUkernel> all(5, nullptr);
    EXPECT_EQ(cuLibraryEnumerateKernels(all.data(), 5, library), CUDA_SUCCESS);
    EXPECT_THAT(all,
                ElementsAre(testing::NotNull(), testing::NotNull(), nullptr, nullptr, nullptr));
    CUkernel kernel = nullptr;
    EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "k__ptxasw_x4"), CUDA_ERROR_NOT_FOUND);
    CUdeviceptr at = 0;
    EXPECT_EQ(cuLibraryGetGlobal(&at, nullptr, library, contract::symbol_of("k").c_str()),
              CUDA_ERROR_NOT_FOUND);
    ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "k"), CUDA_SUCCESS);
    EXPECT_EQ(launched_entry(reinterpret_cast<CUfunction>(kernel)), "k__ptxasw_x4");
    CUmodule module = nullptr;
    // By the driver's own function: as a module that comes from a function.
    driver_function<CUresult(CUmodule*, CUlibrary)>("cuLibraryGetModule")(&module, library);
    expect_own_view(module);
    EXPECT_EQ(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
    expect_own_view(module);
    EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  };
  const test::Wrapper wrapper{.data = image.data()};
  expect(cuLibraryLoadData(&library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
  expect(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  expect(reinterpret_cast<decltype(&cuLibraryLoadData)>(asked("cuLibraryLoadData"))(
      &library, &wrapper, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

// The driver keeps what it was given until the library goes.
TEST_F(ImagesTest, ALazyDriver) {
  gpu().is_lazy = true;
  const std::string image = image_of_test();
  prepare(image, "prepared");
  CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
  void* value = reinterpret_cast<void*>(1);
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, &option, &value, 1),
            CUDA_SUCCESS);
  CUkernel kernel = nullptr;
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "k"), CUDA_SUCCESS);
  EXPECT_EQ(launched_entry(reinterpret_cast<CUfunction>(kernel)), "k__ptxasw_x4");
  cuLibraryUnload(library);
  // It finds out late that it cannot load that.
  gpu().contents.erase("prepared");
  ASSERT_EQ(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, &option, &value, 1),
            CUDA_SUCCESS);
  EXPECT_EQ(gpu().loaded.back(), "prepared"); // before
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, "l"), CUDA_SUCCESS);
  EXPECT_EQ(gpu().loaded.back(), "own");
}

TEST_F(ImagesTest, WhatTheDriverRefuses) {
  const std::string image = image_of_test();
  prepare(image, "unknown");
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES;
  void* size = reinterpret_cast<void*>(77);
  ASSERT_EQ(cuModuleLoadDataEx(&module, image.data(), 1, &option, &size), CUDA_SUCCESS);
  EXPECT_EQ(size, nullptr); // as the driver wrote for the original
  EXPECT_THAT(gpu().loaded, ElementsAre("own"));
  expect_own_view(module);
  const unsigned before = gpu().calls["cuModuleLoadData"];
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_EQ(gpu().calls["cuModuleLoadData"], before + 1); // not tried again
}

TEST_F(ImagesTest, OneThatLacksKernels) {
  gpu().contents["less"] = [](fake::Driver& g, fake::Module& m) { g.add(m, "k", {8, 4}); };
  const std::string image = image_of_test();
  prepare(image, "less");
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_THAT(gpu().loaded, ElementsAre("less", "own"));
  EXPECT_EQ(gpu().modules.size(), 1U);
  expect_own_view(module);
}

// What the program's own image lacks is missing in the same way.
TEST_F(ImagesTest, AnErrorIsTheProgramsOwn) {
  gpu().contents.erase("own");
  const std::string image = image_of_test();
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, image.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&module, "/nowhere"), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(ImagesTest, ImagesOfNobody) {
  const std::string image = image_of_test();
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_THAT(std::exchange(gpu().loaded, {}), ElementsAre("own"));
  prepare(image, "", image::Reason::no_versions);
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_THAT(gpu().loaded, ElementsAre("own"));
}

// A handle that is given out again is another module's.
TEST_F(ImagesTest, HandlesThatGo) {
  const std::string image = image_of_test();
  prepare(image, "prepared");
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  Images& images = *engine()->images();
  EXPECT_NE(images.of(module), nullptr);
  cuModuleUnload(module);
  EXPECT_EQ(images.of(module), nullptr);
}

TEST_F(ImagesTest, DevicesOfSeveralKinds) {
  gpu().devices = 2;
  gpu().capabilities = {90, 80};
  const std::string image = image_of_test();
  prepare(image, "prepared");
  CUlibrary library = nullptr;
  ASSERT_EQ(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(gpu().loaded.back(), "own");
  CUmodule module = nullptr; // of the context's device, which is the first
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_EQ(gpu().loaded.back(), "prepared");
}

TEST_F(ImagesTest, AnotherChipIsAskedFor) {
  const std::string image = image_of_test();
  prepare(image, "prepared");
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_TARGET;
  void* target = reinterpret_cast<void*>(80);
  ASSERT_EQ(cuModuleLoadDataEx(&module, image.data(), 1, &option, &target), CUDA_SUCCESS);
  EXPECT_EQ(gpu().loaded.back(), "own");
}

// A tool that loads something within a load.
TEST_F(ImagesTest, LoadsWithinLoads) {
  const std::string image = image_of_test();
  prepare(image, "prepared");
  bool is_within = false;
  CUresult within = CUDA_ERROR_UNKNOWN;
  gpu().tool = [&](const char* name) {
    if (std::string_view(name) != "cuModuleLoadData" || std::exchange(is_within, true)) return;
    CUmodule other = nullptr;
    within = cuModuleLoadData(&other, image.data());
  };
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  EXPECT_EQ(within, CUDA_SUCCESS);
  EXPECT_THAT(gpu().loaded, ElementsAre("own", "prepared"));
}

// Of what cannot gain the headers are read and nothing else: the bodies here cannot be.
TEST_F(ImagesTest, BodiesAreNotRead) {
  constexpr std::size_t page = 4096, body = std::size_t{1} << 30;
  auto* const at = static_cast<char*>(::mmap(nullptr, page + body, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(at, MAP_FAILED);
  std::string headers = test::fat_binary({{2, 90, ""}});
  const std::uint64_t size = page - headers.size() + body;
  const std::uint64_t whole = size + 64;
  std::memcpy(headers.data() + 8, &whole, sizeof whole);
  std::memcpy(headers.data() + 16 + 8, &size, sizeof size);
  std::memcpy(at, headers.data(), headers.size());
  ASSERT_EQ(::mprotect(at + page, body, PROT_NONE), 0);
  Images images(true);
  EXPECT_EQ(images.look_at(at, Images::Owner::library, true).by, nullptr);
  const auto rows = images.finish();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].code, "no-ptx");
  ::munmap(at, page + body);
}

TEST_F(ImagesTest, TheTable) {
  const std::string image = image_of_test();
  prepare(image, "prepared");
  Images images(true);
  const std::string text = ".version 9.0\n", cubin = test::machine_code("own"),
                    alone = test::fat_binary({{2, 90, test::machine_code("own")}}),
                    unknown = usual_image("unknown");
  for (const std::string* each : {&text, &cubin, &alone, &alone, &image, &unknown})
    images.look_at(each->data(), Images::Owner::library, true);
  const auto rows = images.finish();
  const std::string table = images_as_text(rows);
  EXPECT_THAT(table, HasSubstr("\n         1   yes        2         2  replaced        memory\n"));
  EXPECT_THAT(table, HasSubstr("\n         2    no        -         -  no-ptx          memory: "
                               "machine code for this chip without its PTX (build with"));
  EXPECT_THAT(table,
              HasSubstr("\n         2   yes        -         -  not-prepared    memory: not"));
  // As NVRTC gives it (CuPy): with what would help.
  EXPECT_THAT(table, HasSubstr("no        -         -  cubin-alone     memory: machine code by "
                               "itself, without PTX (where NVRTC made it: have it make PTX, with "
                               "-arch=compute_90 and nvrtcGetPTX; CuPy: CUPY_COMPILE_WITH_PTX=1)"));
  const std::string json = images_as_json(rows);
  EXPECT_THAT(json, HasSubstr("{\"file\": \"memory\", \"state\": \"replaced\", \"words\": \"\", "
                              "\"images\": 1, \"ptx\": true, \"kernels\": 2, \"versions\": 2}"));
  EXPECT_EQ(images_as_text({}), "");
}

} // namespace
} // namespace ptxasw::launch
