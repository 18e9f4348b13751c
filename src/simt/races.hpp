// Finds two threads that touch a byte, one of them writing, with nothing that orders the two.
//
// Order comes from barriers of the block and from exchanges of the warp (bar.warp, shfl, ...); each
// completed one begins a new epoch. Atomics and volatile, relaxed, acquire or release accesses may
// meet each other. Fences are not followed, so a hand-made lock looks like a race; and a barrier
// counts for all threads of the block, so a race beside a barrier of a part of it may stay unseen.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace ptxasw::simt {

class Races {
public:
  struct Thread {
    std::uint64_t block = 0;
    std::uint32_t number = 0; // in the block
    std::uint32_t block_epoch = 0, warp_epoch = 0;
  };
  // The other thread of a race that this access makes. `space` tells shared memories from global
  // memory and from each other.
  enum class Kind : std::uint8_t { read, constant_read, write, ordered_read, ordered_write };
  std::optional<Thread> access(std::uint64_t space, std::uint64_t address, std::uint64_t bytes,
                               const Thread& thread, Kind kind);

private:
  struct Touch {
    Thread thread;
    bool valid = false, ordered = false;
  };
  struct Cell {
    Touch write, read, other_read; // the last write; since then the last read and one by another
    Touch constant_read;           // by ld.global.nc: nobody may write the byte at all
  };
  static constexpr std::uint64_t page_bytes = 256;
  using Page = std::array<Cell, page_bytes>;

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

} // namespace ptxasw::simt
