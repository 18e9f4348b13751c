// Every instruction form on a real GPU: the interpreter's results must be the hardware's, bit for
// bit. Needs an NVIDIA driver of at least CUDA 13 and a GPU of sm_90 or later; skipped elsewhere.
#include "semantics/concrete.hpp"
#include "semantics/harness.hpp"
#include "semantics/samples.hpp"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>

namespace ptxasw {
namespace {

// PTXASW_CONFORMANCE=FILE records a table, of more samples.
constexpr unsigned block = 128;
const char* const record_file = std::getenv("PTXASW_CONFORMANCE");
const unsigned samples_per_form = record_file != nullptr ? 65536 : 8192;

// The few entry points of the driver that it takes, from whatever library is installed.
class Gpu {
public:
  using Pointer = std::uint64_t;

  static std::optional<Gpu> open() {
    Gpu gpu;
    void* context = nullptr;
    int device = 0;
    gpu.library_ = dlopen("libcuda.so.1", RTLD_NOW);
    if (gpu.library_ == nullptr || gpu.call<unsigned>("cuInit", 0) != 0 ||
        gpu.call<int*, int>("cuDeviceGet", &device, 0) != 0 ||
        gpu.call<void**, int>("cuDevicePrimaryCtxRetain", &context, device) != 0 ||
        gpu.call<void*>("cuCtxSetCurrent", context) != 0)
      return std::nullopt;
    return gpu;
  }

  // nullptr: this driver or GPU does not take the text.
  void* load(const std::string& ptx) const {
    void* module = nullptr;
    const int status = call<void**, const void*>("cuModuleLoadData", &module, ptx.c_str());
    return status == 0 ? module : nullptr;
  }
  Pointer allocate(std::size_t bytes) const {
    Pointer p = 0;
    EXPECT_EQ((call<Pointer*, std::size_t>("cuMemAlloc_v2", &p, bytes)), 0);
    return p;
  }
  void launch(void* module, const std::string& kernel, Pointer in, Pointer out) const {
    void* function = nullptr;
    ASSERT_EQ((call<void**, void*, const char*>("cuModuleGetFunction", &function, module,
                                                kernel.c_str())),
              0);
    std::array<void*, 2> arguments{&in, &out};
    ASSERT_EQ((call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    void*, void**, void**>("cuLaunchKernel", function, samples_per_form / block, 1,
                                           1, block, 1, 1, 0, nullptr, arguments.data(), nullptr)),
              0);
  }
  void write(Pointer to, const std::vector<std::uint64_t>& from) const {
    ASSERT_EQ((call<Pointer, const void*, std::size_t>("cuMemcpyHtoD_v2", to, from.data(),
                                                       from.size() * 8)),
              0);
  }
  void read(std::vector<std::uint64_t>& to, Pointer from) const {
    ASSERT_EQ(
        (call<void*, Pointer, std::size_t>("cuMemcpyDtoH_v2", to.data(), from, to.size() * 8)), 0);
  }

private:
  template <class... Args> int call(const char* name, Args... args) const {
    const auto entry = reinterpret_cast<int (*)(Args...)>(dlsym(library_, name));
    return entry == nullptr ? -1 : entry(args...);
  }
  void* library_ = nullptr;
};

// A kernel that reads its operands from 64-bit slots and writes its results to such.
std::string kernel(const forms::Instance& form, const std::string& name) {
  std::string text = fmt::format(
      ".visible .entry {}(.param .u64 pin, .param .u64 pout)\n{{\n"
      ".reg .b64 %in, %out, %v; .reg .b32 %n, %b, %c;\n"
      "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];\n"
      "mov.u32 %n, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %c, %ntid.x; mad.lo.u32 %n, %b, %c, %n;\n"
      "mad.wide.u32 %in, %n, {}, %in; mad.wide.u32 %out, %n, {}, %out;\n",
      name, 8 * form.sources.size(), 8 * form.results.size());
  for (std::size_t i = 0; i < form.results.size(); ++i)
    text += fmt::format(".reg {} %o{};\n", harness::register_type(form.results[i]), i);
  for (std::size_t i = 0; i < form.sources.size(); ++i) {
    text += fmt::format(".reg {} %i{}; ld.global.u64 %v, [%in+{}]; ",
                        harness::register_type(form.sources[i]), i, 8 * i);
    switch (form.sources[i]) {
    case 'p': text += fmt::format("setp.ne.u64 %i{}, %v, 0;\n", i); break;
    case 'h': text += fmt::format("cvt.u16.u64 %i{}, %v;\n", i); break;
    case 'r': text += fmt::format("cvt.u32.u64 %i{}, %v;\n", i); break;
    default: text += fmt::format("mov.u64 %i{}, %v;\n", i); break;
    }
  }
  text += form.text + "\n";
  for (std::size_t i = 0; i < form.results.size(); ++i) {
    switch (form.results[i]) {
    case 'p': text += fmt::format("selp.u64 %v, 1, 0, %o{};", i); break;
    case 'h': text += fmt::format("cvt.u64.u16 %v, %o{};", i); break;
    case 'r': text += fmt::format("cvt.u64.u32 %v, %o{};", i); break;
    case 'd': text += fmt::format("mov.u64 %v, %o{};", i); break;
    default: continue; // 128 bits: its halves are results of their own
    }
    text += fmt::format(" st.global.u64 [%out+{}], %v;\n", 8 * i);
  }
  return text + "ret;\n}\n";
}

// The first sample on which the two disagree, in words; empty if there is none.
std::string disagreement(const std::string& form, const std::vector<std::vector<sem::Bits>>& inputs,
                         const std::vector<std::uint64_t>& outputs) {
  sem::ConcreteDomain domain;
  const harness::Program program(form);
  const std::string& results = program.instance.results;
  for (std::size_t n = 0; n < inputs.size(); ++n) {
    const std::vector<sem::Bits> ours = program.run(domain, inputs[n]);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::uint64_t gpu = outputs[n * results.size() + i];
      if (results[i] == 'q' || static_cast<std::uint64_t>(ours[i]) == gpu) continue;
      std::string text = fmt::format("{}: result {} of", form, i);
      for (const sem::Bits in : inputs[n])
        text += fmt::format(" {:#x}", static_cast<std::uint64_t>(in));
      return text + fmt::format(" is {:#x} on the GPU, here {:#x}", gpu,
                                static_cast<std::uint64_t>(ours[i]));
    }
  }
  return {};
}

TEST(Gpu, AgreesOnEveryForm) {
  const std::optional<Gpu> gpu = Gpu::open();
  if (!gpu) GTEST_SKIP() << "no NVIDIA GPU";
  std::vector<std::string> all;
  std::string text = harness::header(90);
  for (const forms::Pattern& pattern : forms::patterns) {
    if (pattern.sm > 90) continue;
    for (const std::string& form : forms::expand(pattern.text)) {
      text += kernel(forms::instantiate(form), fmt::format("k{}", all.size()));
      all.push_back(form);
    }
  }
  void* module = gpu->load(text);
  if (module == nullptr) GTEST_SKIP() << "the driver does not take PTX 9.0 for sm_90";
  constexpr std::size_t most_operands = 12;
  const Gpu::Pointer in = gpu->allocate(samples_per_form * most_operands * 8);
  const Gpu::Pointer out = gpu->allocate(samples_per_form * most_operands * 8);
  std::mt19937_64 random(1000);
  std::string table = "# form | inputs | differences\n";
  for (std::size_t k = 0; k < all.size(); ++k) {
    const forms::Instance form = forms::instantiate(all[k]);
    std::vector<std::vector<sem::Bits>> inputs(samples_per_form);
    std::vector<std::uint64_t> slots;
    const bool exhaustive = form.sources == "h" && samples_per_form == 65536;
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      auto& values = inputs[n];
      values = samples::draw(form.sources, random);
      if (exhaustive) values[0] = n;
      for (const sem::Bits v : values)
        slots.push_back(static_cast<std::uint64_t>(v));
    }
    std::vector<std::uint64_t> outputs(samples_per_form * form.results.size());
    gpu->write(in, slots);
    gpu->launch(module, fmt::format("k{}", k), in, out);
    gpu->read(outputs, out);
    const std::string difference = disagreement(all[k], inputs, outputs);
    EXPECT_EQ(difference, "");
    table += fmt::format("{} | {}{} | {}\n", all[k], samples_per_form, exhaustive ? " (all)" : "",
                         difference.empty() ? "0" : difference);
  }
  if (record_file != nullptr) std::ofstream(record_file) << table;
}

} // namespace
} // namespace ptxasw
