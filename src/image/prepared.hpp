// What was prepared of an image, in the store of this user: for `ptxasw prepare`, which writes it,
// and for the launcher, which reads it while the program loads the image.
//
//   const auto image = measured(pointer);                        // headers.hpp
//   if (choose(probe(*image), *chip_of("sm_90")).reason != Reason::none) load as it is;
//   const ImageKey key = key_of(*image, "sm_90");                // hashes: at memory speed, once
//   if (auto found = find(images_folder(getenv), key)) ...       // whole, and only this user's
//   else start(...)                                              // background.hpp
//
// A cubin is for one chip: where a program sees devices of several, its images stay as they are.
//
// An entry holds a verdict: either a cubin that stands in for the image on this chip, in which
// each of the program's kernels has the very machine code that the image has for it and some have
// versions and launch contracts beside them; or why there is none. A PTX text has no machine code:
// its cubin stands in where the driver's compiler is the one that was here (compiled.hpp). Nothing
// here throws but for want of memory. Needs src/store/{entry,folder,files,counters,seal}.cpp and
// xxhash's header, no library.
#pragma once

#include "image/headers.hpp"
#include "store/folder.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::image {

using ImageKey = store::Key;

// Of this machine alone: what a server says is not run.
inline constexpr store::Kind images{"images", 5, false};

// Over the image's bytes, the chip ("sm_90") and the version of `images`. Of what was linked
// (linked.hpp): over its cubin.
[[nodiscard]] ImageKey key_of(Bytes image, std::string_view chip);

// One of the program's own kernels.
struct PreparedKernel {
  std::string name;
  std::uint32_t versions = 0;   // entries beside it, of several time steps, too
  Reason reason = Reason::none; // why there are none
  std::string words;            // more of that; may be empty
  // Versions do the same in a module of their own: they need no variable of this one.
  bool is_alone = false;
  friend bool operator==(const PreparedKernel&, const PreparedKernel&) = default;
};

// What tells one entry of an image from another one.
struct Edition {
  std::int64_t when = 0;
  std::uint64_t sequences = 0;
  friend bool operator==(const Edition&, const Edition&) = default;
};

struct Prepared {
  Reason reason = Reason::none; // why nothing replaces the image; none: `cubin` does
  std::string words;            // the same for people, with how to build
  std::string cubin;
  std::string linked; // of a PTX text: what its driver's linker has to make of it (compiled.hpp)
  std::vector<PreparedKernel> kernels; // all of the image; none where it was not read so far
  std::string chip;                    // "sm_90"
  std::string made_by;                 // version and commit of ptxasw
  std::string assembler;               // release of the ptxas that was asked; empty: none was
  std::int64_t when = 0;               // seconds since 1970
  // Of what programs were seen to launch of its kernels (seen_sequences.hpp), as it was prepared.
  std::uint64_t sequences = 0;

  [[nodiscard]] bool is_replaced() const { return reason == Reason::none; }
  [[nodiscard]] std::uint32_t versions() const;
  [[nodiscard]] Edition edition() const { return {when, sequences}; }
  friend bool operator==(const Prepared&, const Prepared&) = default;
};

// Another ptxas might do better.
[[nodiscard]] bool hangs_on_ptxas(const Prepared& prepared);
[[nodiscard]] bool is_a_day_old(const Prepared& prepared, std::int64_t now);
// And a day has passed: go on with what was found, and start preparing again.
[[nodiscard]] bool is_to_be_tried_again(const Prepared& prepared, std::int64_t now);

[[nodiscard]] std::string serialized(const Prepared& prepared);
// Nothing: not what `serialized` made.
[[nodiscard]] std::optional<Prepared> parsed(std::string_view bytes);

// ${XDG_CACHE_HOME:-~/.cache}/ptxasw, or empty; `variable` as std::getenv.
[[nodiscard]] std::string images_folder(const char* (*variable)(const char* name));

// Nothing: never prepared, cut, changed, or written by somebody else than this user.
[[nodiscard]] std::optional<Prepared> find(const std::string& folder, const ImageKey& key);
// False: there is no room, or it may not be written. `limit`: bytes of the whole folder.
bool keep(const std::string& folder, std::uint64_t limit, const ImageKey& key,
          const Prepared& prepared);

} // namespace ptxasw::image
