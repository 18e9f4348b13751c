// Finds the image that a module is of, and loads what was prepared of it.
#include "launch/late_versions.hpp"

#include "launch/hook_table.hpp"
#include "launch/log.hpp"

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_handles = 1 << 12;

using Names = LateVersions::Names;

// Null: it has none that can be used. A text's have to be compared first.
std::shared_ptr<const Names> usable_kernels(const image::Prepared& prepared) {
  auto names = std::make_shared<Names>();
  if (prepared.is_replaced() && prepared.linked.empty())
    for (const image::PreparedKernel& kernel : prepared.kernels)
      if (kernel.is_alone) names->insert(kernel.name);
  return names->empty() ? nullptr : names;
}

CUmodule module_of(CUlibrary library) {
  static auto* const get = driver_function<CUresult(CUmodule*, CUlibrary)>("cuLibraryGetModule");
  CUmodule module = nullptr;
  return get != nullptr && get(&module, library) == CUDA_SUCCESS ? module : nullptr;
}

CUlibrary load(const std::string& cubin) {
  using Load = CUresult(CUlibrary*, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*,
                        void**, unsigned);
  auto* const real = real_of<Load>(library_load_data, exported);
  CUlibrary library = nullptr;
  if (real == nullptr ||
      real(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) != CUDA_SUCCESS)
    return nullptr;
  return library;
}

void unload(CUlibrary library) {
  if (auto* const real = driver_function<CUresult(CUlibrary)>("cuLibraryUnload")) real(library);
}

} // namespace

void LateVersions::await(void* handle, bool is_library, const Awaited& image) {
  const std::lock_guard lock(mutex_);
  if (handles_.size() >= most_handles) return;
  const auto [found, is_new] = images_.try_emplace(image.key);
  if (is_new) {
    found->second.edition = image.known;
    found->second.row = image.row;
  }
  handles_[handle] = {&found->second, is_library};
}

void LateVersions::forget(void* handle) {
  const std::lock_guard lock(mutex_);
  handles_.erase(handle);
}

void LateVersions::forget_modules() {
  const std::lock_guard lock(mutex_);
  std::erase_if(handles_, [](const auto& known) { return !known.second.is_library; });
}

// The store is asked only when there is something new.
void LateVersions::read_news() {
  std::vector<image::ImageKey> asked;
  {
    const std::uint64_t news = news_.load(std::memory_order_acquire);
    if (news == 0) return;
    const std::lock_guard lock(mutex_);
    if (std::exchange(read_, news) == news) return;
    for (const auto& [key, image] : images_)
      asked.push_back(key);
  }
  for (const image::ImageKey& key : asked) {
    auto prepared = image::find(folder_, key);
    if (!prepared) continue;
    auto kernels = usable_kernels(*prepared);
    const std::lock_guard lock(mutex_);
    Image& image = images_[key];
    if (std::exchange(image.edition, prepared->edition()) == prepared->edition()) continue;
    if (kernels != nullptr) has_any_.store(true, std::memory_order_release);
    image.kernels = std::move(kernels);
    image.cubin = std::make_shared<const std::string>(std::move(prepared->cubin));
  }
}

// Null: of none that has versions. A library's module is known by asking.
LateVersions::Image* LateVersions::image_of(CUmodule module) {
  std::vector<std::pair<CUlibrary, Image*>> libraries;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, its] : handles_) {
      if (its.image->kernels == nullptr) continue;
      if (its.is_library)
        libraries.emplace_back(static_cast<CUlibrary>(handle), its.image);
      else if (handle == module)
        return its.image;
    }
  }
  for (const auto& [library, image] : libraries)
    if (module_of(library) == module) return image;
  return nullptr;
}

// Of an image with versions. Null: the driver does not take them.
CUlibrary LateVersions::loaded(Image& image) {
  std::shared_ptr<const std::string> cubin;
  {
    const std::lock_guard lock(mutex_);
    if (image.cubin == nullptr) return image.library;
    cubin = image.cubin;
  }
  CUlibrary made = load(*cubin);
  if (made == nullptr) log("the driver does not take what was prepared while the program ran");
  CUlibrary kept = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (image.cubin == cubin) { // no other thread was first
      image.cubin = nullptr;
      image.library = std::exchange(made, nullptr);
    }
    kept = image.library;
  }
  if (made != nullptr) unload(made);
  return kept;
}

std::vector<std::size_t> LateVersions::rows() {
  std::vector<std::size_t> rows;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, image] : images_)
    if (image.library != nullptr) rows.push_back(image.row);
  return rows;
}

LateVersions::Beside LateVersions::beside(CUmodule module) {
  read_news();
  if (!has_any_.load(std::memory_order_acquire)) return {};
  Image* const image = image_of(module);
  const CUlibrary library = image == nullptr ? nullptr : loaded(*image);
  const CUmodule found = library == nullptr ? nullptr : module_of(library);
  if (found == nullptr) return {};
  const std::lock_guard lock(mutex_);
  return {found, image->kernels};
}

} // namespace ptxasw::launch
