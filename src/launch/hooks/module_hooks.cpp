// Loads what was prepared in the place of the program's images, and tells the program what its own
// ones would tell.
#include "launch/hooks/module_hooks.hpp"

#include "image/mapped_file.hpp"
#include "launch/driver/compiled_text.hpp"
#include "launch/driver/hook_table.hpp"
#include "launch/engine/engine.hpp"
#include "launch/images/images.hpp"
#include "launch/waiting/trampolines.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

// cuda.h lets some names stand for others; here each is what it says.
#undef cuModuleGetGlobal

namespace ptxasw::launch {
namespace {

using Owner = Images::Owner;

// A name that no module has: for what the program's own image would not have.
constexpr const char* no_name = "__ptxasw_of_nobody";

// --- Loading -------------------------------------------------------------------------------------

// Whether this thread loads an image already: the driver may call its own functions through us.
class Loading {
public:
  Loading() : before_(std::exchange(now, true)) {}
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;
  ~Loading() { now = before_; }
  [[nodiscard]] bool is_first() const { return !before_; }

private:
  [[gnu::tls_model("initial-exec")]] static constinit thread_local bool now;
  const bool before_;
};
constinit thread_local bool Loading::now = false;

// What stands in has all the kernels that it should have. Older drivers cannot say.
bool fits(CUmodule module, const Replacement& by) {
  auto* const count = real_of<CUresult(unsigned*, CUmodule)>(module_get_function_count, exported);
  unsigned found = 0;
  return count == nullptr || (count(&found, module) == CUDA_SUCCESS && found >= by.entries());
}
bool fits(CUlibrary library, const Replacement& by) {
  auto* const count = real_of<CUresult(unsigned*, CUlibrary)>(library_get_kernel_count, exported);
  unsigned found = 0;
  return count == nullptr || (count(&found, library) == CUDA_SUCCESS && found >= by.entries());
}

void unload(CUmodule module) {
  if (auto* const real = driver_function<CUresult(CUmodule)>("cuModuleUnload")) real(module);
}
void unload(CUlibrary library) {
  if (driver().library_unload != nullptr) driver().library_unload(library);
}

constexpr Owner owner_of(const CUmodule*) {
  return Owner::module;
}
constexpr Owner owner_of(const CUlibrary*) {
  return Owner::library;
}

// `other` loads a cubin; `original` what the program asked for.
template <class Handle, class Other, class Original>
CUresult load(Images& images, Images::Load found, Handle* handle, const Other& other,
              const Original& original) {
  if (found.is_to_be_compared) images.compared(found, linked_by_driver(found.bytes));
  if (found.by != nullptr && handle != nullptr) {
    Handle made = nullptr;
    CUresult result = other(&made, found.by->cubin.data());
    if (result == CUDA_SUCCESS && fits(made, *found.by)) {
      images.loaded(found, made, owner_of(handle));
      *handle = made;
      return result;
    }
    if (result == CUDA_SUCCESS) {
      unload(made);
      result = CUDA_ERROR_INVALID_IMAGE;
    }
    images.refused(found, result);
  }
  const CUresult result = original();
  if (result != CUDA_SUCCESS || handle == nullptr) return result;
  found.by = nullptr;
  images.loaded(found, *handle, owner_of(handle));
  return result;
}

// The options of a load, for one that may fail: what the driver writes into them is the program's
// only if it does not.
class Options {
public:
  Options(CUjit_option* options, void** values, unsigned count)
      : options_(options), values_(values), count_(values == nullptr ? 0 : count),
        copies_(values, values + count_) {}
  // For another chip than the one in the machine: the program knows more than we do.
  [[nodiscard]] bool names_target() const {
    return options_ != nullptr &&
           std::find(options_, options_ + count_, CU_JIT_TARGET) != options_ + count_;
  }
  [[nodiscard]] bool are_usual() const { return compiles_as_usual(options_, values_, count_); }
  void** copies() { return values_ == nullptr ? nullptr : copies_.data(); }
  CUresult kept_if(CUresult result) {
    if (result == CUDA_SUCCESS) std::ranges::copy(copies_, values_);
    return result;
  }

private:
  CUjit_option* options_;
  void** values_;
  unsigned count_;
  std::vector<void*> copies_;
};

using LoadData = CUresult(CUmodule*, const void*);
using LoadDataEx = CUresult(CUmodule*, const void*, unsigned, CUjit_option*, void**);
using LoadFile = CUresult(CUmodule*, const char*);
using LibraryLoad = CUresult(CUlibrary*, const void*, CUjit_option*, void**, unsigned,
                             CUlibraryOption*, void**, unsigned);
using LibraryLoadFile = CUresult(CUlibrary*, const char*, CUjit_option*, void**, unsigned,
                                 CUlibraryOption*, void**, unsigned);

template <unsigned hook, unsigned copy> CUresult load_data(CUmodule* module, const void* image) {
  auto* const real = real_of<LoadData>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const Loading loading;
  if (images == nullptr || !loading.is_first()) return real(module, image);
  // A cubin is no fat binary.
  auto* const other =
      hook == module_load_fat_binary ? real_of<LoadData>(module_load_data, exported) : real;
  return load(
      *images, images->look_at(image, Owner::module, true), module,
      [&](CUmodule* made, const void* cubin) {
        return other == nullptr ? CUDA_ERROR_NOT_SUPPORTED : other(made, cubin);
      },
      [&] { return real(module, image); });
}

template <unsigned hook, unsigned copy>
CUresult load_data_ex(CUmodule* module, const void* image, unsigned count, CUjit_option* options,
                      void** values) {
  auto* const real = real_of<LoadDataEx>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const Loading loading;
  Options its(options, values, count);
  if (images == nullptr || !loading.is_first() || its.names_target())
    return real(module, image, count, options, values);
  return load(
      *images, images->look_at(image, Owner::module, its.are_usual()), module,
      [&](CUmodule* made, const void* cubin) {
        return its.kept_if(real(made, cubin, count, options, its.copies()));
      },
      [&] { return real(module, image, count, options, values); });
}

template <unsigned hook, unsigned copy> CUresult load_file(CUmodule* module, const char* path) {
  auto* const real = real_of<LoadFile>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const Loading loading;
  auto* const other = real_of<LoadData>(module_load_data, exported);
  if (images == nullptr || !loading.is_first() || other == nullptr) return real(module, path);
  const auto file = path == nullptr ? std::nullopt : image::MappedFile::open(path);
  return load(*images,
              images->look_at(file ? file->bytes() : image::Bytes{}, path, Owner::module, true),
              module, other, [&] { return real(module, path); });
}

template <unsigned hook, unsigned copy>
CUresult library_load(CUlibrary* library, const void* image, CUjit_option* options, void** values,
                      unsigned count, CUlibraryOption* library_options, void** library_values,
                      unsigned library_count) {
  auto* const real = real_of<LibraryLoad>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const Loading loading;
  Options its(options, values, count);
  const auto original = [&] {
    return real(library, image, options, values, count, library_options, library_values,
                library_count);
  };
  if (images == nullptr || !loading.is_first() || its.names_target()) return original();
  return load(
      *images, images->look_at(image, Owner::library, its.are_usual()), library,
      [&](CUlibrary* made, const void* cubin) {
        return its.kept_if(real(made, cubin, options, its.copies(), count, library_options,
                                library_values, library_count));
      },
      original);
}

template <unsigned hook, unsigned copy>
CUresult library_load_path(CUlibrary* library, const char* path, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption* library_options,
                           void** library_values, unsigned library_count) {
  auto* const real = real_of<LibraryLoadFile>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const Loading loading;
  Options its(options, values, count);
  auto* const other = real_of<LibraryLoad>(library_load_data, exported);
  const auto original = [&] {
    return real(library, path, options, values, count, library_options, library_values,
                library_count);
  };
  if (images == nullptr || !loading.is_first() || other == nullptr || its.names_target())
    return original();
  const auto file = path == nullptr ? std::nullopt : image::MappedFile::open(path);
  return load(
      *images,
      images->look_at(file ? file->bytes() : image::Bytes{}, path, Owner::library, its.are_usual()),
      library,
      [&](CUlibrary* made, const void* cubin) {
        return its.kept_if(other(made, cubin, options, its.copies(), count, library_options,
                                 library_values, library_count));
      },
      original);
}

// --- What the program sees of it -----------------------------------------------------------------

std::shared_ptr<const Replacement> replacement_of(Images& images, CUlibrary library) {
  return images.of(library);
}

// A module that the program got from a kernel or a library is not among those that it loaded.
std::shared_ptr<const Replacement> replacement_of(Images& images, CUmodule module) {
  if (auto known = images.of(module)) return known;
  auto* const get = real_of<CUresult(CUmodule*, CUlibrary)>(library_get_module, exported);
  if (get == nullptr) return nullptr;
  for (CUlibrary library : images.libraries()) {
    CUmodule its = nullptr;
    if (get(&its, library) != CUDA_SUCCESS || its != module) continue;
    auto by = images.of(library);
    if (by != nullptr) images.add(module, by, Owner::module);
    return by;
  }
  return nullptr;
}

// The name to look up: of what we added there is none.
template <class Handle> const char* shown(Handle handle, const char* name) {
  Images* const images = images_behind_what_waits();
  if (images == nullptr || name == nullptr || !images->has_any() || !may_be_added(name))
    return name;
  const auto by = replacement_of(*images, handle);
  return by != nullptr && by->hides(name) ? no_name : name;
}

template <unsigned hook, unsigned copy, class Found, class Handle>
CUresult get_by_name(Found* found, Handle handle, const char* name) {
  auto* const real = real_of<CUresult(Found*, Handle, const char*)>(hook, copy);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED : real(found, handle, shown(handle, name));
}

template <unsigned hook, unsigned copy, class Handle>
CUresult get_global(CUdeviceptr* found, std::size_t* bytes, Handle handle, const char* name) {
  auto* const real = real_of<CUresult(CUdeviceptr*, std::size_t*, Handle, const char*)>(hook, copy);
  return real == nullptr ? CUDA_ERROR_NOT_INITIALIZED
                         : real(found, bytes, handle, shown(handle, name));
}

bool is_added(const Replacement& by, CUfunction function) {
  const char* name = nullptr;
  return driver().func_get_name != nullptr &&
         driver().func_get_name(&name, function) == CUDA_SUCCESS && by.hides(name);
}
bool is_added(const Replacement& by, CUkernel kernel) {
  static auto* const get = driver_function<CUresult(const char**, CUkernel)>("cuKernelGetName");
  const char* name = nullptr;
  return get != nullptr && get(&name, kernel) == CUDA_SUCCESS && by.hides(name);
}

// What the driver lists, without what we added; nothing where it cannot say.
template <class Found, class Handle> struct Lists;
template <> struct Lists<CUfunction, CUmodule> {
  static constexpr unsigned count = module_get_function_count, all = module_enumerate_functions;
};
template <> struct Lists<CUkernel, CUlibrary> {
  static constexpr unsigned count = library_get_kernel_count, all = library_enumerate_kernels;
};
template <class Found, class Handle>
std::optional<std::vector<Found>> own_of(const Replacement& by, Handle handle) {
  using List = Lists<Found, Handle>;
  auto* const count = real_of<CUresult(unsigned*, Handle)>(List::count, exported);
  auto* const list = real_of<CUresult(Found*, unsigned, Handle)>(List::all, exported);
  unsigned there = 0;
  if (count == nullptr || list == nullptr || count(&there, handle) != CUDA_SUCCESS)
    return std::nullopt;
  std::vector<Found> all(there);
  if (list(all.data(), there, handle) != CUDA_SUCCESS) return std::nullopt;
  std::erase_if(all, [&](Found each) { return is_added(by, each); });
  return all;
}

template <unsigned hook, unsigned copy, class Found, class Handle>
CUresult get_count(unsigned* count, Handle handle) {
  auto* const real = real_of<CUresult(unsigned*, Handle)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const CUresult result = real(count, handle);
  if (result != CUDA_SUCCESS || images == nullptr || !images->has_any()) return result;
  const auto by = replacement_of(*images, handle);
  const auto own = by == nullptr ? std::nullopt : own_of<Found>(*by, handle);
  if (own) *count = static_cast<unsigned>(own->size());
  return result;
}

template <unsigned hook, unsigned copy, class Found, class Handle>
CUresult enumerate(Found* found, unsigned room, Handle handle) {
  auto* const real = real_of<CUresult(Found*, unsigned, Handle)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const auto by = images == nullptr || !images->has_any() || found == nullptr
                      ? nullptr
                      : replacement_of(*images, handle);
  const auto own = by == nullptr ? std::nullopt : own_of<Found>(*by, handle);
  if (!own) return real(found, room, handle);
  std::copy_n(own->begin(), std::min<std::size_t>(room, own->size()), found);
  return CUDA_SUCCESS;
}

template <unsigned hook, unsigned copy> CUresult get_module(CUmodule* module, CUlibrary library) {
  auto* const real = real_of<CUresult(CUmodule*, CUlibrary)>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const CUresult result = real(module, library);
  if (result != CUDA_SUCCESS || images == nullptr) return result;
  if (auto by = images->of(library))
    images->add(*module, std::move(by), Owner::module);
  else
    images->take(*module);
  return result;
}

// --- All of them ---------------------------------------------------------------------------------

template <unsigned hook, unsigned copy> void* made_module() {
  if constexpr (hook == module_load)
    return pointer(load_file<hook, copy>);
  else if constexpr (hook == module_load_data || hook == module_load_fat_binary)
    return pointer(load_data<hook, copy>);
  else if constexpr (hook == module_load_data_ex)
    return pointer(load_data_ex<hook, copy>);
  else if constexpr (hook == library_load_data)
    return pointer(library_load<hook, copy>);
  else if constexpr (hook == library_load_from_file)
    return pointer(library_load_path<hook, copy>);
  else if constexpr (hook == module_get_function)
    return pointer(get_by_name<hook, copy, CUfunction, CUmodule>);
  else if constexpr (hook == library_get_kernel)
    return pointer(get_by_name<hook, copy, CUkernel, CUlibrary>);
  else if constexpr (hook == module_get_global)
    return pointer(get_global<hook, copy, CUmodule>);
  else if constexpr (hook == library_get_global)
    return pointer(get_global<hook, copy, CUlibrary>);
  else if constexpr (hook == module_get_function_count)
    return pointer(get_count<hook, copy, CUfunction, CUmodule>);
  else if constexpr (hook == library_get_kernel_count)
    return pointer(get_count<hook, copy, CUkernel, CUlibrary>);
  else if constexpr (hook == module_enumerate_functions)
    return pointer(enumerate<hook, copy, CUfunction, CUmodule>);
  else if constexpr (hook == library_enumerate_kernels)
    return pointer(enumerate<hook, copy, CUkernel, CUlibrary>);
  else
    return pointer(get_module<hook, copy>);
}

} // namespace

Images* images_behind_what_waits() {
  Engine* const launcher = engine();
  if (launcher == nullptr) return nullptr;
  if (is_waiting()) launcher->flush();
  return launcher->images();
}

void* module_hook(unsigned hook, unsigned copy) {
  return made_for<first_of_modules, first_of_links>(
      hook, copy,
      []<unsigned its_hook, unsigned its_copy>() { return made_module<its_hook, its_copy>(); });
}

} // namespace ptxasw::launch

extern "C" {

#define PTXASW_EXPORT [[gnu::visibility("default")]]
namespace launch = ptxasw::launch;

PTXASW_EXPORT CUresult CUDAAPI cuModuleLoad(CUmodule* module, const char* path) {
  return launch::load_file<launch::module_load, launch::exported>(module, path);
}
PTXASW_EXPORT CUresult CUDAAPI cuModuleLoadData(CUmodule* module, const void* image) {
  return launch::load_data<launch::module_load_data, launch::exported>(module, image);
}
PTXASW_EXPORT CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* module, const void* image,
                                                  unsigned count, CUjit_option* options,
                                                  void** values) {
  return launch::load_data_ex<launch::module_load_data_ex, launch::exported>(module, image, count,
                                                                             options, values);
}
PTXASW_EXPORT CUresult CUDAAPI cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return launch::load_data<launch::module_load_fat_binary, launch::exported>(module, image);
}
PTXASW_EXPORT CUresult CUDAAPI cuLibraryLoadData(CUlibrary* library, const void* image,
                                                 CUjit_option* options, void** values,
                                                 unsigned count, CUlibraryOption* library_options,
                                                 void** library_values, unsigned library_count) {
  return launch::library_load<launch::library_load_data, launch::exported>(
      library, image, options, values, count, library_options, library_values, library_count);
}
PTXASW_EXPORT CUresult CUDAAPI cuLibraryLoadFromFile(
    CUlibrary* library, const char* path, CUjit_option* options, void** values, unsigned count,
    CUlibraryOption* library_options, void** library_values, unsigned library_count) {
  return launch::library_load_path<launch::library_load_from_file, launch::exported>(
      library, path, options, values, count, library_options, library_values, library_count);
}
// What a program may ask about a module or a library: twins.
#define PTXASW_QUERIES(Handle, Found, get, get_hook, global, global_hook, count_of, count_hook,    \
                       list_of, enumerate_hook)                                                    \
  PTXASW_EXPORT CUresult CUDAAPI get(Found* found, Handle handle, const char* name) {              \
    return launch::get_by_name<launch::get_hook, launch::exported>(found, handle, name);           \
  }                                                                                                \
  PTXASW_EXPORT CUresult CUDAAPI global(CUdeviceptr* found, size_t* bytes, Handle handle,          \
                                        const char* name) {                                        \
    return launch::get_global<launch::global_hook, launch::exported>(found, bytes, handle, name);  \
  }                                                                                                \
  PTXASW_EXPORT CUresult CUDAAPI count_of(unsigned* count, Handle handle) {                        \
    return launch::get_count<launch::count_hook, launch::exported, Found>(count, handle);          \
  }                                                                                                \
  PTXASW_EXPORT CUresult CUDAAPI list_of(Found* found, unsigned room, Handle handle) {             \
    return launch::enumerate<launch::enumerate_hook, launch::exported>(found, room, handle);       \
  }
PTXASW_QUERIES(CUmodule, CUfunction, cuModuleGetFunction, module_get_function, cuModuleGetGlobal_v2,
               module_get_global, cuModuleGetFunctionCount, module_get_function_count,
               cuModuleEnumerateFunctions, module_enumerate_functions)
PTXASW_QUERIES(CUlibrary, CUkernel, cuLibraryGetKernel, library_get_kernel, cuLibraryGetGlobal,
               library_get_global, cuLibraryGetKernelCount, library_get_kernel_count,
               cuLibraryEnumerateKernels, library_enumerate_kernels)
PTXASW_EXPORT CUresult CUDAAPI cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return launch::get_module<launch::library_get_module, launch::exported>(module, library);
}

} // extern "C"
