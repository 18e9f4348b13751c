// What the program has its driver link (cuLinkCreate to cuLinkComplete): where that is one PTX
// text, the linked cubin is known with its text, and may be replaced when it is loaded
// (images.hpp).
//
// Programs copy the cubin and end the link before they load it. So what was linked is found by its
// bytes, and is kept when the link is gone; what was linked first is forgotten where there is too
// much. The driver is not called from here.
#pragma once

#include "image/headers.hpp"
#include "store/entry.hpp"

#include <atomic>
#include <cuda.h>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ptxasw::launch {

class Links {
public:
  struct Options {
    CUjit_option* options;
    void** values;
    unsigned count;
  };
  // Not complete so far.
  struct Link {
    std::string text;
    bool has_text = false, has_lines = false;
    unsigned registers = 0, target = 0; // 0: not named
    image::Reason reason = image::Reason::none;
    void take(const Options& given);
    [[nodiscard]] std::string options() const; // of ptxas
  };
  // Where the driver has begun it.
  void created(CUlinkState state, Link link);
  // Also where the driver refuses it. No text: something else.
  void added(CUlinkState state, std::optional<std::string_view> text, const Options& options);
  // Where the driver has made it.
  void completed(CUlinkState state, image::Bytes cubin);
  void destroyed(CUlinkState state);

  struct Made {
    image::Reason reason = image::Reason::none; // why its text is not known
    unsigned target = 0;                        // "90", where the program has named its chip
    std::shared_ptr<const std::string> image;   // image/linked.hpp; null where there is a reason
  };
  // Of a whole cubin. Nothing: it was not linked here, or is forgotten.
  [[nodiscard]] std::optional<Made> find(image::Bytes cubin) const;

private:
  struct Known {
    std::size_t size = 0; // up to its last section
    store::Key key;       // of these bytes
    Made made;
  };
  void keep(Known known);

  std::atomic<bool> has_any_{false};
  mutable std::mutex mutex_;
  std::unordered_map<CUlinkState, Link> links_;
  std::deque<Known> known_; // the newest last
  std::size_t bytes_ = 0;   // of their images
};

} // namespace ptxasw::launch
