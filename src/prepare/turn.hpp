// One process at a time prepares an image, and in the background one prepares anything.
//
// A file for each image under FOLDER/preparing is locked while it is prepared, and gone when that
// is done. It holds how often preparing was begun and never ended: an image that made it fail twice
// is given up, so that no program starts it again at each run. Locks go with the processes that
// hold them, however those end.
#pragma once

#include "image/prepared.hpp"
#include "store/descriptor.hpp"

#include <optional>
#include <string>

namespace ptxasw::prepare {

class Turn {
public:
  enum class Others : std::uint8_t { wait, leave }; // while another process prepares it
  // Nothing: another process prepares it, or the folder may not be written.
  static std::optional<Turn> take(const std::string& folder, const image::ImageKey& key,
                                  Others others);

  // How often it was begun before.
  [[nodiscard]] unsigned begun() const { return begun_; }
  bool begin(); // false: it could not be written down
  void done();  // nobody has to know of it any more

private:
  Turn(std::string path, store::Descriptor file);
  std::string path_;
  store::Descriptor file_;
  unsigned begun_ = 0;
};

// Held by a process in the background while it prepares; waits for others. Nothing: it cannot be
// had.
[[nodiscard]] std::optional<store::Descriptor> only_one(const std::string& folder);

} // namespace ptxasw::prepare
