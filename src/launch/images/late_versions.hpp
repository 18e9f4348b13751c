// Versions that were prepared while the program ran with its own image (preparer.hpp): the prepared
// cubin is loaded beside the program's module, and its kernels are launched in the place of the
// program's from then on. IMAGES.md says who could tell.
//
// Loading waits for all that runs in the context, and keeps others from launching meanwhile. What
// runs may wait for the program, which may be about to launch. So it is done where the program
// itself has waited for all of its context, before it goes on, and nowhere else.
//
// Only of kernels that need nothing of their module (prepare/alone.hpp): variables of the one
// beside it are others. What was prepared of a PTX text waits for the next run, since it has to be
// compared with what the driver makes of it.
#pragma once

#include "image/prepared.hpp"
#include "launch/driver/driver.hpp"

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

  // An image that is being prepared, and the edition of it that was there, if any.
  struct Awaited {
    image::ImageKey key;
    std::optional<image::Edition> known;
    std::size_t row = 0; // of the report
  };
  // What was loaded of one: a module or a library.
  void await(CUmodule module, const Awaited& image);
  void await(CUlibrary library, const Awaited& image) { await(library, nullptr, image); }
  void forget(void* handle);
  // With their context, modules go without a word; libraries belong to none.
  void forget_modules();
  // The store has this of an image. By any thread.
  void take(const image::ImageKey& key, image::Prepared prepared);
  // The program has waited for all of the current context. True: what is known of its kernels is to
  // be forgotten.
  bool load_here();

  struct Beside {
    CUmodule module = nullptr;
    std::shared_ptr<const Names> kernels; // that have versions there; null: there is none
  };
  // Of a module of the program.
  Beside beside(CUcontext context, CUmodule module);
  // Rows of the images of which versions were loaded.
  [[nodiscard]] std::vector<std::size_t> rows();

private:
  // Stays where it is. What was loaded stays, too, since its kernels may run.
  struct Image {
    std::optional<image::Edition> edition;    // the last one that is known
    std::shared_ptr<const Names> kernels;     // with versions; null: none came
    std::shared_ptr<const std::string> cubin; // null: it is loaded
    CUlibrary library = nullptr;
    std::shared_ptr<const Names> loaded; // kernels of the library
    std::size_t row = 0;
  };
  struct Handle {
    Image* image = nullptr;
    std::optional<image::Edition> edition; // that was there when it was loaded
    CUcontext context = nullptr;           // of a module; null: a library
    [[nodiscard]] bool has_later() const {
      return image->kernels != nullptr && image->edition != edition;
    }
  };
  struct Known {
    Beside beside;
    void* handle = nullptr; // that the program's module is of
  };
  void await(void* handle, CUcontext context, const Awaited& image);
  Beside loaded(Image& image);

  std::atomic<std::uint64_t> version_{0}; // of what there is to be loaded; 0: nothing
  std::mutex mutex_;                      // never held while the driver is called
  std::map<image::ImageKey, Image> images_;
  std::unordered_map<void*, Handle> handles_;
  std::map<CUcontext, std::uint64_t> versions_; // that were loaded there
  std::map<std::pair<CUcontext, CUmodule>, Known> beside_;
};

} // namespace ptxasw::launch
