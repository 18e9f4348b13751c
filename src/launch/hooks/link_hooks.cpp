// Options are read ahead of the driver, which writes into some of them.
#include "launch/hooks/link_hooks.hpp"

#include "image/mapped_file.hpp"
#include "launch/driver/hook_table.hpp"
#include "launch/hooks/module_hooks.hpp"
#include "launch/images/images.hpp"

#include <optional>
#include <string_view>
#include <utility>

// cuda.h lets some names stand for others; here each is what it says.
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile

namespace ptxasw::launch {
namespace {

using Create = CUresult(unsigned, CUjit_option*, void**, CUlinkState*);
using AddData = CUresult(CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned,
                         CUjit_option*, void**);
using AddFile = CUresult(CUlinkState, CUjitInputType, const char*, unsigned, CUjit_option*, void**);
using Complete = CUresult(CUlinkState, void**, std::size_t*);
using Destroy = CUresult(CUlinkState);

template <unsigned hook, unsigned copy>
CUresult create_link(unsigned count, CUjit_option* options, void** values, CUlinkState* link) {
  auto* const real = real_of<Create>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  Links::Link begun;
  if (images != nullptr) begun.take({options, values, count});
  const CUresult result = real(count, options, values, link);
  if (images != nullptr && result == CUDA_SUCCESS && link != nullptr)
    images->links().created(*link, std::move(begun));
  return result;
}

template <unsigned hook, unsigned copy>
CUresult add_data(CUlinkState link, CUjitInputType type, void* data, std::size_t size,
                  const char* name, unsigned count, CUjit_option* options, void** values) {
  auto* const real = real_of<AddData>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (Images* const images = images_behind_what_waits()) {
    std::optional<std::string_view> text;
    if (type == CU_JIT_INPUT_PTX && data != nullptr)
      text = std::string_view(static_cast<const char*>(data), size);
    images->links().added(link, text, {options, values, count});
  }
  return real(link, type, data, size, name, count, options, values);
}

template <unsigned hook, unsigned copy>
CUresult add_file(CUlinkState link, CUjitInputType type, const char* path, unsigned count,
                  CUjit_option* options, void** values) {
  auto* const real = real_of<AddFile>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (Images* const images = images_behind_what_waits()) {
    std::optional<image::MappedFile> file;
    if (type == CU_JIT_INPUT_PTX && path != nullptr) file = image::MappedFile::open(path);
    images->links().added(link, file ? std::optional(file->text()) : std::nullopt,
                          {options, values, count});
  }
  return real(link, type, path, count, options, values);
}

template <unsigned hook, unsigned copy>
CUresult complete_link(CUlinkState link, void** cubin, std::size_t* size) {
  auto* const real = real_of<Complete>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  Images* const images = images_behind_what_waits();
  const CUresult result = real(link, cubin, size);
  if (images != nullptr && result == CUDA_SUCCESS && cubin != nullptr && size != nullptr)
    images->links().completed(link, {static_cast<const std::byte*>(*cubin), *size});
  return result;
}

template <unsigned hook, unsigned copy> CUresult destroy_link(CUlinkState link) {
  auto* const real = real_of<Destroy>(hook, copy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (Images* const images = images_behind_what_waits()) images->links().destroyed(link);
  return real(link);
}

template <unsigned hook, unsigned copy> void* made_link() {
  if constexpr (hook == link_create || hook == link_create_1)
    return pointer(create_link<hook, copy>);
  else if constexpr (hook == link_add_data || hook == link_add_data_1)
    return pointer(add_data<hook, copy>);
  else if constexpr (hook == link_add_file || hook == link_add_file_1)
    return pointer(add_file<hook, copy>);
  else if constexpr (hook == link_complete)
    return pointer(complete_link<hook, copy>);
  else
    return pointer(destroy_link<hook, copy>);
}

} // namespace

void* link_hook(unsigned hook, unsigned copy) {
  return made_for<first_of_links, hook_count>(
      hook, copy,
      []<unsigned its_hook, unsigned its_copy>() { return made_link<its_hook, its_copy>(); });
}

} // namespace ptxasw::launch

extern "C" {

#define PTXASW_EXPORT [[gnu::visibility("default")]]

#define PTXASW_LINK(suffix, creates, adds_data, adds_file)                                         \
  PTXASW_EXPORT CUresult CUDAAPI cuLinkCreate##suffix(unsigned count, CUjit_option* options,       \
                                                      void** values, CUlinkState* link) {          \
    using namespace ptxasw::launch;                                                                \
    return create_link<creates, exported>(count, options, values, link);                           \
  }                                                                                                \
  PTXASW_EXPORT CUresult CUDAAPI cuLinkAddData##suffix(                                            \
      CUlinkState link, CUjitInputType type, void* data, size_t size, const char* name,            \
      unsigned count, CUjit_option* options, void** values) {                                      \
    using namespace ptxasw::launch;                                                                \
    return add_data<adds_data, exported>(link, type, data, size, name, count, options, values);    \
  }                                                                                                \
  PTXASW_EXPORT CUresult CUDAAPI cuLinkAddFile##suffix(CUlinkState link, CUjitInputType type,      \
                                                       const char* path, unsigned count,           \
                                                       CUjit_option* options, void** values) {     \
    using namespace ptxasw::launch;                                                                \
    return add_file<adds_file, exported>(link, type, path, count, options, values);                \
  }
PTXASW_LINK(_v2, link_create, link_add_data, link_add_file)
PTXASW_LINK(, link_create_1, link_add_data_1, link_add_file_1)

PTXASW_EXPORT CUresult CUDAAPI cuLinkComplete(CUlinkState link, void** cubin, size_t* size) {
  using namespace ptxasw::launch;
  return complete_link<link_complete, exported>(link, cubin, size);
}
PTXASW_EXPORT CUresult CUDAAPI cuLinkDestroy(CUlinkState link) {
  using namespace ptxasw::launch;
  return destroy_link<link_destroy, exported>(link);
}

} // extern "C"
