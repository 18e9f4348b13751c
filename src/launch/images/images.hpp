// What becomes of an image that the program hands to its driver: it goes there as it is, or a cubin
// that was prepared of it goes there instead (image/prepared.hpp). IMAGES.md says who could tell.
//
// What cannot gain is passed over by its headers: a cubin too, unless the program had its driver
// link it of one text, or one of its size was linked and prepared before. What may is hashed, once
// for each time that it is loaded, and looked up in the store of this user. Where the store does
// not have it, the original is loaded, a process of low priority prepares it (preparer.hpp), and
// versions of its kernels are launched from then on (late_versions.hpp). What was prepared of a
// text has to be compared with what the driver makes of it, once (image/compiled.hpp).
//
// No lock is held while the driver is called, nor is it called from here but for what devices
// there are.
#pragma once

#include "contract/sequences.hpp"
#include "image/prepared.hpp"
#include "launch/driver/driver.hpp"
#include "launch/images/ahead.hpp"
#include "launch/images/image_table.hpp"
#include "launch/images/late_versions.hpp"
#include "launch/images/links.hpp"
#include "launch/images/preparer.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::launch {

// Of a kernel or a variable: perhaps we added it, perhaps the program has such names itself.
[[nodiscard]] bool may_be_added(std::string_view name);

// Stands in for an image; never changes.
struct Replacement {
  std::string cubin;
  std::vector<std::string> own; // the program's kernels, ascending
  unsigned added = 0;           // kernels of the cubin beside them
  [[nodiscard]] unsigned entries() const { return static_cast<unsigned>(own.size()) + added; }
  // The program's own image has nothing of this name.
  [[nodiscard]] bool hides(std::string_view name) const;
};

class Images {
public:
  // `reports`: say where images are from, which takes longer.
  explicit Images(bool reports);

  // Where what was prepared is kept; empty: nowhere.
  [[nodiscard]] const std::string& folder() const { return folder_; }

  // Of one image that is about to be loaded.
  struct Load {
    std::shared_ptr<const Replacement> by;   // null: the original
    std::size_t row = 0;                     // of the table
    std::optional<Preparer::When> preparing; // nothing: it is not handed over
    bool is_awaited = false;                 // somebody may prepare it, perhaps once more
    std::optional<image::Edition> edition;   // that is there
    bool is_to_be_compared = false;          // before `by` may be loaded
    std::string chip;
    image::ImageKey key;
    image::Bytes bytes;                        // the program's own
    std::shared_ptr<const std::string> linked; // holds these, of a cubin that was linked
  };
  // A module is of the current context's device, a library of all that there are.
  enum class Owner : std::uint8_t { module, library };
  // `as_usual`: the driver compiles without options, if it does.
  Load look_at(const void* image, Owner owner, bool as_usual);
  // What the program had its driver link.
  [[nodiscard]] Links& links() { return links_; }
  // Of a file; no bytes: it cannot be read.
  Load look_at(image::Bytes file, const char* path, Owner owner, bool as_usual);
  // Behind the driver's linker: the cubin that it made of the text, or none. Where that is not as
  // it was prepared for, nothing stands in.
  void compared(Load& load, std::string_view cubin);
  // Behind the driver's answer, while the program's image is still there.
  void loaded(const Load& load, void* handle, Owner owner);
  // The driver did not take what stands in.
  void refused(const Load& load, CUresult why);

  // Of a module or a library; null where its image is the program's own.
  [[nodiscard]] std::shared_ptr<const Replacement> of(void* handle) const;
  [[nodiscard]] bool has_any() const { return has_any_.load(std::memory_order_acquire); }
  // One more handle by which it is known: a library's module.
  void add(void* handle, std::shared_ptr<const Replacement> by, Owner owner);
  // Of a handle that goes; null where there is none.
  std::shared_ptr<const Replacement> take(void* handle);
  // The libraries whose images were replaced.
  [[nodiscard]] std::vector<CUlibrary> libraries() const;

  // Versions that were prepared while the program ran.
  [[nodiscard]] LateVersions& late() { return late_; }
  // What this program needed before.
  [[nodiscard]] Ahead& ahead() { return ahead_; }
  // As Preparer.
  void look_for_sequences(std::function<Preparer::Seen()> look) {
    preparer_.look_for_sequences(std::move(look));
  }

  // What was loaded so far. Begins to prepare what waits for that, since the program ends.
  std::vector<ImageRow> finish();

private:
  struct Known {
    std::shared_ptr<const Replacement> by;
    ImageRow row;
    bool is_old = false; // prepare it again
    std::optional<image::Edition> edition;
    std::string linked; // of a text: what its linker has to make
    bool agrees = true; // and does
  };
  struct Handle {
    std::shared_ptr<const Replacement> by;
    Owner owner = Owner::module;
  };
  Load look_at_whole(image::Bytes image, const std::string& from, Owner owner, bool as_usual);
  Load look_at_text(image::Bytes text, const std::string& from, Owner owner, bool as_usual);
  Load look_at_cubin(image::Bytes cubin, const std::string& from, Owner owner);
  enum class Preparing : std::uint8_t { is_possible, has_no_text };
  Load look_up(image::Bytes image, const std::string& from, const std::string& chip,
               Preparing preparing = Preparing::is_possible);
  Load leave(image::Reason reason, const std::string& from, const std::string& chip, bool has_text);
  Load of_unknown_devices(const std::string& from);
  void withdraw(const Load& load, std::string_view code, std::string_view words);
  Load pass_over(image::Form form, const std::string& from, Owner owner);
  Load note(ImageRow row);
  Known known(const image::ImageKey& key);
  [[nodiscard]] std::string chip_of(Owner owner) const;

  const bool reports_;
  const std::string folder_;
  Ahead ahead_{folder_};
  const std::vector<contract::SeenSequence> seen_; // as this process began
  LateVersions late_;
  Preparer preparer_;
  Links links_;
  std::atomic<bool> has_any_{false};
  mutable std::mutex mutex_;
  std::map<image::ImageKey, Known> known_;
  std::set<image::ImageKey> prepared_; // by this process
  std::unordered_map<void*, Handle> handles_;
  std::vector<ImageRow> rows_;
  std::map<std::pair<std::string, std::string>, std::size_t> row_of_;
};

} // namespace ptxasw::launch
