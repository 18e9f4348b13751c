// Cubins that the program had its driver link: of one PTX text they are known with it when they are
// loaded, and what was prepared of them stands in; of anything else they are cubins by themselves.
#include "images_fixture.hpp"

#include "../image/recorded.hpp"
#include "image/linked.hpp"
#include "launch/images/links.hpp"

#include <cstddef>
#include <fstream>
#include <functional>
#include <optional>

#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile

extern "C" {
decltype(cuLinkCreate_v2) cuLinkCreate;
decltype(cuLinkAddData_v2) cuLinkAddData;
decltype(cuLinkAddFile_v2) cuLinkAddFile;
}

namespace ptxasw::launch {
namespace {

using testing::ElementsAre;

// The functions that a program has; by default those that it links.
struct Linker {
  decltype(&cuLinkCreate_v2) create = cuLinkCreate_v2;
  decltype(&cuLinkAddData_v2) add = cuLinkAddData_v2;
  decltype(&cuLinkAddFile_v2) add_file = cuLinkAddFile_v2;
  decltype(&cuLinkComplete) complete = cuLinkComplete;
  decltype(&cuLinkDestroy) destroy = cuLinkDestroy;
};

class LinksTest : public ImagesTest {
protected:
  LinksTest() {
    // Its number of the test makes it another one for each test.
    const std::string image = image::recorded("alone");
    const auto choice = image::choose(image::probe(image::bytes_of(image)), {90});
    const image::Bytes code = choice.code->stored;
    cubin.assign(reinterpret_cast<const char*>(code.data()), code.size());
    cubin.resize(image::measured(cubin.data())->size());
    const std::size_t at = cubin.find("NVIDIA");
    EXPECT_NE(at, cubin.npos);
    static char number = 'a';
    cubin[at] = number++;
    test::gpu().linker = [this](const std::string& of) {
      EXPECT_EQ(of, text);
      return cubin;
    };
    test::gpu().calls.clear();
  }
  using Inputs = std::function<void(CUlinkState, const Linker&)>;
  void add_text(CUlinkState link, const Linker& with) const {
    EXPECT_EQ(with.add(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1,
                       "text", 0, nullptr, nullptr),
              CUDA_SUCCESS);
  }
  // As programs do: the cubin is copied, and the link ended. Then the tag of what is loaded; of the
  // program's own it is empty.
  std::string linked_and_loaded(const Inputs& inputs, std::vector<CUjit_option> options = {},
                                std::vector<void*> values = {}, const Linker& with = {}) {
    CUlinkState link = nullptr;
    EXPECT_EQ(
        with.create(static_cast<unsigned>(options.size()), options.data(), values.data(), &link),
        CUDA_SUCCESS);
    inputs(link, with);
    void* made = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(with.complete(link, &made, &size), CUDA_SUCCESS);
    const std::string copy(static_cast<const char*>(made), size);
    EXPECT_EQ(with.destroy(link), CUDA_SUCCESS);
    return loaded(copy);
  }
  static std::string loaded(const std::string& image) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
    if (test::gpu().loaded.back() == "prepared") expect_own_view(module);
    return test::gpu().loaded.back();
  }
  [[nodiscard]] Inputs the_text() const {
    return [this](CUlinkState link, const Linker& with) { add_text(link, with); };
  }

  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  std::string cubin; // that the linker makes of it
};

void* asked_for(const char* name) {
  using Get = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  void* found = nullptr;
  reinterpret_cast<Get>(::dlsym(library, "cuGetProcAddress_v2"))(name, &found, 13000, 0, nullptr);
  return found;
}
template <class Function> Function as(void* found) {
  return reinterpret_cast<Function>(found);
}

TEST_F(LinksTest, EachWayToLinkOne) {
  prepare(cubin, "prepared");
  EXPECT_EQ(linked_and_loaded(the_text()), "prepared");
  const std::string file = folder() + "/linked.ptx";
  std::ofstream(file) << text;
  EXPECT_EQ(linked_and_loaded([&](CUlinkState link, const Linker& with) {
              EXPECT_EQ(with.add_file(link, CU_JIT_INPUT_PTX, file.c_str(), 0, nullptr, nullptr),
                        CUDA_SUCCESS);
            }),
            "prepared");
}

TEST_F(LinksTest, EachWayToGetAtTheLinker) {
  prepare(cubin, "prepared");
  test::gpu().loaded.clear();
  const Linker older{cuLinkCreate, cuLinkAddData, cuLinkAddFile};
  EXPECT_EQ(linked_and_loaded(the_text(), {}, {}, older), "prepared");
  EXPECT_EQ(test::gpu().calls["cuLinkCreate of CUDA 5.5"], 1U);
  const Linker asked{as<decltype(Linker::create)>(asked_for("cuLinkCreate")),
                     as<decltype(Linker::add)>(asked_for("cuLinkAddData")),
                     as<decltype(Linker::add_file)>(asked_for("cuLinkAddFile")),
                     as<decltype(Linker::complete)>(asked_for("cuLinkComplete")),
                     as<decltype(Linker::destroy)>(asked_for("cuLinkDestroy"))};
  // Copies of ours: the fake driver itself hands out what is exported.
  EXPECT_NE(asked.create, cuLinkCreate_v2);
  EXPECT_NE(asked.add, cuLinkAddData_v2);
  EXPECT_NE(asked.add_file, cuLinkAddFile_v2);
  EXPECT_NE(asked.complete, cuLinkComplete);
  EXPECT_NE(asked.destroy, cuLinkDestroy);
  cubin[cubin.find("VIDIA")] = '2';
  prepare(cubin, "prepared");
  EXPECT_EQ(linked_and_loaded(the_text(), {}, {}, asked), "prepared");
}

TEST_F(LinksTest, FromAFile) {
  prepare(cubin, "prepared");
  EXPECT_EQ(linked_and_loaded(the_text()), "prepared");
  const std::string file = folder() + "/linked.cubin";
  std::ofstream(file, std::ios::binary) << cubin;
  CUmodule module = nullptr;
  ASSERT_EQ(cuModuleLoad(&module, file.c_str()), CUDA_SUCCESS);
  EXPECT_EQ(test::gpu().loaded.back(), "prepared");
}

TEST_F(LinksTest, WhatIsNotOneText) {
  prepare(cubin, "prepared");
  EXPECT_EQ(linked_and_loaded([&](CUlinkState link, const Linker& with) {
              add_text(link, with);
              add_text(link, with);
            }),
            "");
  char object[] = "an object";
  for (const CUjitInputType type : {CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT,
                                    CU_JIT_INPUT_LIBRARY, CU_JIT_INPUT_NVVM}) {
    EXPECT_EQ(linked_and_loaded([&](CUlinkState link, const Linker& with) {
                add_text(link, with);
                with.add(link, type, object, sizeof object, "", 0, nullptr, nullptr);
              }),
              "")
        << type;
    EXPECT_EQ(linked_and_loaded([&](CUlinkState link, const Linker& with) {
                with.add_file(link, type, "/nowhere", 0, nullptr, nullptr);
                add_text(link, with);
              }),
              "")
        << type;
  }
}

TEST_F(LinksTest, ALinkThatIsNotKnown) {
  prepare(cubin, "prepared");
  Linker unseen;
  unseen.create = driver_function<decltype(cuLinkCreate_v2)>("cuLinkCreate_v2");
  EXPECT_EQ(linked_and_loaded(the_text(), {}, {}, unseen), "");
}

TEST_F(LinksTest, OptionsThatAreNotRepeated) {
  prepare(cubin, "prepared");
  const auto with = [&](CUjit_option option, std::uintptr_t value) {
    return linked_and_loaded(the_text(), {option}, {reinterpret_cast<void*>(value)});
  };
  EXPECT_EQ(with(CU_JIT_TARGET, 90), "prepared");
  EXPECT_EQ(with(CU_JIT_TARGET, 80), "");
  EXPECT_EQ(with(CU_JIT_TARGET, 0x10000 + 90), "");
  EXPECT_EQ(with(CU_JIT_GENERATE_DEBUG_INFO, 1), "");
  EXPECT_EQ(with(CU_JIT_OPTIMIZATION_LEVEL, 2), "");
  EXPECT_EQ(with(CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CG), "");
  EXPECT_EQ(with(CU_JIT_THREADS_PER_BLOCK, 128), "");
  EXPECT_EQ(with(CU_JIT_LOG_VERBOSE, 1), "prepared"); // the driver links, and says so
}

// A cache of kernels has the cubin: whoever loads it does not link.
TEST_F(LinksTest, LinkedByAProgramBefore) {
  prepare(cubin, "prepared");
  EXPECT_EQ(loaded(cubin), "");
  ASSERT_TRUE(image::keep_size(folder() + "/ptxasw", cubin.size()));
  EXPECT_EQ(loaded(cubin), "prepared");
  // Another one of this size.
  cubin[cubin.find("VIDIA")] = '!';
  EXPECT_EQ(loaded(cubin), "");
}

TEST_F(LinksTest, TheTable) {
  Images images(true);
  const image::Bytes bytes = std::as_bytes(std::span(cubin));
  const auto link = [&](std::size_t texts) {
    const CUlinkState state = reinterpret_cast<CUlinkState>(&images);
    images.links().created(state, {});
    for (std::size_t n = 0; n < texts; ++n)
      images.links().added(state, text, {});
    images.links().completed(state, bytes);
    images.look_at(cubin.data(), Images::Owner::module, true);
  };
  images.look_at(cubin.data(), Images::Owner::module, true);
  link(1);
  link(2);
  std::vector<std::string> codes;
  for (const ImageRow& row : images.finish())
    codes.push_back(row.code);
  EXPECT_THAT(codes, ElementsAre("cubin-alone", "not-prepared", "linked-inputs"));
}

class LinkTable : public LinksTest {
protected:
  std::optional<Links::Made> made(std::vector<CUjit_option> options, std::vector<void*> values) {
    const CUlinkState state = reinterpret_cast<CUlinkState>(this);
    Links::Link link;
    link.take({options.data(), values.data(), static_cast<unsigned>(options.size())});
    links.created(state, link);
    links.added(state, std::string_view(text.c_str(), text.size() + 1), {nullptr, nullptr, 0});
    links.completed(state, bytes());
    return links.find(bytes());
  }
  [[nodiscard]] image::Bytes bytes() const { return std::as_bytes(std::span(cubin)); }
  Links links;
};

TEST_F(LinkTable, WhatIsHandedOn) {
  const auto found =
      made({CU_JIT_MAX_REGISTERS, CU_JIT_GENERATE_LINE_INFO, CU_JIT_TARGET},
           {reinterpret_cast<void*>(40), reinterpret_cast<void*>(1), reinterpret_cast<void*>(90)});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->target, 90U);
  const auto parts = image::unpacked(std::as_bytes(std::span(*found->image)));
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->options, "-maxrregcount 40 -lineinfo");
  EXPECT_EQ(parts->text, text);
  EXPECT_EQ(parts->cubin, cubin);
}

TEST_F(LinkTable, OptionsThatContradict) {
  EXPECT_EQ(made({CU_JIT_MAX_REGISTERS, CU_JIT_MAX_REGISTERS},
                 {reinterpret_cast<void*>(40), reinterpret_cast<void*>(32)})
                ->reason,
            image::Reason::jit_options);
  EXPECT_EQ(made({CU_JIT_GENERATE_DEBUG_INFO}, {reinterpret_cast<void*>(1)})->reason,
            image::Reason::debug_code);
}

// A handle that is given out again is of another link.
TEST_F(LinkTable, ALinkThatIsGone) {
  const CUlinkState state = reinterpret_cast<CUlinkState>(this);
  links.created(state, {});
  links.destroyed(state);
  links.added(state, text, {});
  links.completed(state, bytes());
  EXPECT_FALSE(links.find(bytes()));
}

TEST_F(LinkTable, WhatIsNoWholeCubin) {
  const CUlinkState state = reinterpret_cast<CUlinkState>(this);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{4}, std::size_t{64}, cubin.size() - 1}) {
    links.created(state, {});
    links.added(state, text, {});
    links.completed(state, bytes().first(size));
    EXPECT_FALSE(links.find(bytes().first(size))) << size;
    EXPECT_FALSE(links.find(bytes())) << size;
  }
}

TEST_F(LinkTable, TheOldestAreForgotten) {
  ASSERT_TRUE(made({}, {}));
  const std::string first = cubin;
  const std::size_t at = cubin.find("VIDIA");
  for (unsigned n = 0; n < 2000; ++n) {
    cubin[at] = static_cast<char>(n % 50);
    cubin[at + 1] = static_cast<char>(n / 50);
    ASSERT_TRUE(made({}, {}));
  }
  EXPECT_TRUE(links.find(bytes()));
  EXPECT_FALSE(links.find(std::as_bytes(std::span(first))));
  // By how much they hold, too.
  text.resize(std::size_t{20} << 20, ' ');
  for (unsigned n = 0; n < 5; ++n) {
    cubin[at + 2] = static_cast<char>(n);
    ASSERT_TRUE(made({}, {}));
  }
  EXPECT_TRUE(links.find(bytes()));
  cubin[at + 2] = 0;
  EXPECT_FALSE(links.find(bytes()));
}

} // namespace
} // namespace ptxasw::launch
