// Stands before functions of the driver: whatever was put off is done before they are.
//
// A trampoline knows nothing of the function behind it: it looks at one byte, and if somebody wants
// to know (Waits), it keeps all registers that can hold arguments, has launches made, and jumps.
// There are as many as drivers have functions several times over; each is handed out at most once.
#pragma once

#include <atomic>

// One bit for each of Waits. Names of the C language: trampolines refer to them.
extern "C" [[gnu::visibility("hidden")]] std::atomic<unsigned char> ptxasw_waiting;
// Has what was put off done; by the engine.
extern "C" [[gnu::visibility("hidden")]] void ptxasw_make_waiting();

namespace ptxasw::launch {

// A function that does what `real` does, behind what waits. `real` itself if it is one already;
// null if there are no more.
void* watched(void* real);

// Functions of the driver that only tell what the host knows anyway, by the name that programs ask
// for. Nothing on a device, and no other thread, can tell whether launches wait in the meantime.
[[nodiscard]] bool tells_only(const char* name);

// Why whoever calls the driver next has to come to us first.
enum class Waits : unsigned char {
  run = 1,   // launches wait, or one was made that another may follow (merge.hpp)
  batch = 4, // launches may go out together (batch.hpp)
  front = 2, // an entry is the last thing that was launched (front.hpp)
};
void set_waiting(Waits why, bool waiting);
[[nodiscard]] inline bool is_waiting(Waits why) {
  return (ptxasw_waiting.load(std::memory_order_acquire) & static_cast<unsigned char>(why)) != 0;
}
[[nodiscard]] inline bool is_waiting() {
  return ptxasw_waiting.load(std::memory_order_acquire) != 0;
}

} // namespace ptxasw::launch
