// Versions that were prepared while the program ran with its own image (preparer.hpp): the prepared
// cubin is loaded beside the program's module, and its kernels are launched in the place of the
// program's from then on. IMAGES.md says who could tell.
//
// Only of kernels that need nothing of their module (prepare/alone.hpp): variables of the one
// beside it are others. What was prepared of a PTX text waits for the next run, since it has to be
// compared with what the driver makes of it.
#pragma once

#include "image/prepared.hpp"
#include "launch/driver.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::launch {

class LateVersions {
public:
  using Names = std::set<std::string, std::less<>>;

  // `folder`: of the store.
  explicit LateVersions(const std::string& folder) : folder_(folder) {}

  // An image that is being prepared, and the edition of it that was there, if any.
  struct Awaited {
    image::ImageKey key;
    std::optional<image::Edition> known;
    std::size_t row = 0; // of the report
  };
  // What was loaded of one: a module or a library.
  void await(CUmodule module, const Awaited& image) { await(module, false, image); }
  void await(CUlibrary library, const Awaited& image) { await(library, true, image); }
  void forget(void* handle);
  // With their context, modules go without a word; libraries belong to none.
  void forget_modules();
  // By any thread: the store has something new.
  void note_news() { news_.fetch_add(1, std::memory_order_release); }

  struct Beside {
    CUmodule module = nullptr;            // in the current context
    std::shared_ptr<const Names> kernels; // that have versions there; null: there is none
  };
  // Of a module of the program. Asks the driver, and loads.
  Beside beside(CUmodule module);
  // Rows of the images of which versions were loaded.
  [[nodiscard]] std::vector<std::size_t> rows();

private:
  // Stays where it is. What was loaded stays, too, since its kernels may run.
  struct Image {
    std::shared_ptr<const Names> kernels;     // null: not prepared yet, or without versions
    std::shared_ptr<const std::string> cubin; // null: it is loaded
    CUlibrary library = nullptr;
    std::optional<image::Edition> edition;
    std::size_t row = 0;
  };
  struct Handle {
    Image* image = nullptr;
    bool is_library = false;
  };
  struct Less {
    bool operator()(const image::ImageKey& a, const image::ImageKey& b) const {
      return std::pair(a.high, a.low) < std::pair(b.high, b.low);
    }
  };
  void await(void* handle, bool is_library, const Awaited& image);
  void read_news();
  Image* image_of(CUmodule module);
  CUlibrary loaded(Image& image);

  const std::string folder_;
  std::atomic<std::uint64_t> news_{0};
  std::atomic<bool> has_any_{false};
  std::mutex mutex_; // never held while the driver is called
  std::uint64_t read_ = 0;
  std::map<image::ImageKey, Image, Less> images_;
  std::unordered_map<void*, Handle> handles_;
};

} // namespace ptxasw::launch
