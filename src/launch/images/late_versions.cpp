// Finds the image that a module is of, and loads what was prepared of it.
#include "launch/images/late_versions.hpp"

#include "launch/driver/hook_table.hpp"
#include "launch/driver/in_context.hpp"
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
  const auto get = driver().library_get_module;
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

// All of them, since a driver that is lazy would do so when they are launched.
void load_functions(CUmodule module) {
  const Driver& d = driver();
  unsigned count = 0;
  if (!d.module_get_function_count || !d.module_enumerate_functions || !d.func_load ||
      d.module_get_function_count(&count, module) != CUDA_SUCCESS)
    return;
  std::vector<CUfunction> all(count);
  if (d.module_enumerate_functions(all.data(), count, module) != CUDA_SUCCESS) return;
  for (CUfunction function : all)
    d.func_load(function);
}

} // namespace

void LateVersions::await(CUmodule module, const Awaited& image) {
  if (CUcontext context = current_context(); context != nullptr) await(module, context, image);
}

void LateVersions::await(void* handle, CUcontext context, const Awaited& image) {
  const std::lock_guard lock(mutex_);
  if (handles_.size() >= most_handles) return;
  const auto [found, is_new] = images_.try_emplace(image.key);
  if (is_new) {
    found->second.edition = image.known;
    found->second.row = image.row;
  }
  const Handle& made = handles_[handle] = {&found->second, image.known, context};
  if (made.has_later()) ++version_;
}

void LateVersions::forget(void* handle) {
  const std::lock_guard lock(mutex_);
  if (handles_.erase(handle) == 0) return;
  std::erase_if(beside_, [&](const auto& known) { return known.second.handle == handle; });
}

void LateVersions::forget_modules() {
  const std::lock_guard lock(mutex_);
  std::erase_if(handles_, [](const auto& known) { return known.second.context != nullptr; });
  beside_.clear();
  versions_.clear();
}

// An edition without versions says nothing against those of the one before.
void LateVersions::take(const image::ImageKey& key, image::Prepared prepared) {
  auto kernels = usable_kernels(prepared);
  const std::lock_guard lock(mutex_);
  const auto found = images_.find(key);
  if (found == images_.end() || kernels == nullptr) return;
  Image& image = found->second;
  if (std::exchange(image.edition, prepared.edition()) == prepared.edition()) return;
  image.kernels = std::move(kernels);
  image.cubin = std::make_shared<const std::string>(std::move(prepared.cubin));
  ++version_;
}

// Of an image with versions, in the current context. Without a module: the driver does not take
// them.
LateVersions::Beside LateVersions::loaded(Image& image) {
  std::shared_ptr<const std::string> cubin;
  std::shared_ptr<const Names> kernels;
  {
    const std::lock_guard lock(mutex_);
    cubin = image.cubin;
    kernels = image.kernels;
  }
  CUlibrary made = cubin == nullptr ? nullptr : load(*cubin);
  if (cubin != nullptr && made == nullptr)
    log("the driver does not take what was prepared while the program ran");
  CUlibrary library = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (cubin != nullptr && image.cubin == cubin) { // no other thread was first
      image.cubin = nullptr;
      image.library = std::exchange(made, nullptr);
      image.loaded = kernels;
    }
    library = image.library;
    kernels = image.loaded;
  }
  if (made != nullptr && driver().library_unload != nullptr) driver().library_unload(made);
  return library == nullptr ? Beside() : Beside{module_of(library), kernels};
}

bool LateVersions::load_here() {
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (version == 0) return false;
  CUcontext context = current_context();
  if (context == nullptr) return false;
  std::vector<std::pair<void*, Handle>> all;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(versions_[context], version) == version) return false;
    for (const auto& [handle, its] : handles_)
      if (its.has_later() && (its.context == nullptr || its.context == context))
        all.emplace_back(handle, its);
  }
  const Relaxed relaxed;
  bool is_other = false;
  for (const auto& [handle, its] : all) {
    const Beside made = loaded(*its.image);
    CUmodule own = its.context == nullptr ? module_of(static_cast<CUlibrary>(handle))
                                          : static_cast<CUmodule>(handle);
    if (made.module == nullptr || own == nullptr) continue;
    load_functions(made.module);
    const std::lock_guard lock(mutex_);
    if (!handles_.contains(handle)) continue;
    beside_[{context, own}] = {made, handle};
    is_other = true;
  }
  return is_other;
}

std::vector<std::size_t> LateVersions::rows() {
  std::vector<std::size_t> rows;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, image] : images_)
    if (image.library != nullptr) rows.push_back(image.row);
  return rows;
}

LateVersions::Beside LateVersions::beside(CUcontext context, CUmodule module) {
  if (version_.load(std::memory_order_acquire) == 0) return {};
  const std::lock_guard lock(mutex_);
  const auto found = beside_.find({context, module});
  return found == beside_.end() ? Beside() : found->second.beside;
}

} // namespace ptxasw::launch
