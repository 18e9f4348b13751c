#include "launch/driver/compiled_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sys/stat.h>

// cuda.h lets some names stand for others; here each is what it says.
#undef cuLinkCreate
#undef cuLinkAddData

namespace ptxasw::launch {
namespace {

// The linker's functions; what it makes is gone with its state.
struct Linker {
  decltype(cuLinkCreate_v2)* create = driver_function<decltype(cuLinkCreate_v2)>("cuLinkCreate_v2");
  decltype(cuLinkAddData_v2)* add = driver_function<decltype(cuLinkAddData_v2)>("cuLinkAddData_v2");
  decltype(cuLinkComplete)* complete = driver_function<decltype(cuLinkComplete)>("cuLinkComplete");
  decltype(cuLinkDestroy)* destroy = driver_function<decltype(cuLinkDestroy)>("cuLinkDestroy");
  [[nodiscard]] bool is_there() const {
    return create != nullptr && add != nullptr && complete != nullptr && destroy != nullptr;
  }
};

bool is_usual(CUjit_option option, const void* value) {
  constexpr std::uintptr_t usual_level = 4;
  const auto number = reinterpret_cast<std::uintptr_t>(value) & ~0U;
  switch (option) {
  case CU_JIT_WALL_TIME:
  case CU_JIT_INFO_LOG_BUFFER:
  case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
  case CU_JIT_ERROR_LOG_BUFFER:
  case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
  case CU_JIT_TARGET_FROM_CUCONTEXT:
  case CU_JIT_FALLBACK_STRATEGY: return true;
  case CU_JIT_OPTIMIZATION_LEVEL: return number == usual_level;
  case CU_JIT_GENERATE_DEBUG_INFO:
  case CU_JIT_GENERATE_LINE_INFO:
  case CU_JIT_CACHE_MODE:
  case CU_JIT_LOG_VERBOSE: return number == 0;
  default: return false;
  }
}

} // namespace

bool compiles_as_usual(const CUjit_option* options, void* const* values, unsigned count) {
  if (options == nullptr || values == nullptr) return count == 0;
  for (unsigned n = 0; n < count; ++n)
    if (!is_usual(options[n], values[n])) return false;
  return true;
}

std::string linked_by_driver(image::Bytes image) {
  const Linker linker;
  CUlinkState state = nullptr;
  if (!linker.is_there() || linker.create(0, nullptr, nullptr, &state) != CUDA_SUCCESS) return {};
  std::string source(image::words_of(image));
  const bool is_text = image::form_of(source.c_str()) == image::Form::text;
  void* made = nullptr;
  std::size_t size = 0;
  std::string cubin;
  // A text with the zero that ends it.
  if (linker.add(state, is_text ? CU_JIT_INPUT_PTX : CU_JIT_INPUT_FATBINARY, source.data(),
                 source.size() + (is_text ? 1 : 0), "image", 0, nullptr, nullptr) == CUDA_SUCCESS &&
      linker.complete(state, &made, &size) == CUDA_SUCCESS && made != nullptr)
    cubin.assign(static_cast<const char*>(made), size);
  linker.destroy(state);
  return cubin;
}

std::string name_of_driver() {
  Dl_info info{};
  struct stat file {};
  if (::dladdr(driver_symbol("cuInit"), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(info.dli_fname, nullptr),
                                                         &std::free);
  if (path == nullptr || ::stat(path.get(), &file) != 0) return {};
  return std::string(path.get()) + ' ' + std::to_string(file.st_size) + ' ' +
         std::to_string(file.st_mtim.tv_sec) + '.' + std::to_string(file.st_mtim.tv_nsec);
}

} // namespace ptxasw::launch
