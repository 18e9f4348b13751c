// What a program asked for, checked before it is done: it and every other way to do it are run on
// copies of the same memory, and all bytes that the kernel's parameters lead to are compared.
//
// What they lead to: each eight bytes of a parameter that are an address in an allocation of the
// driver, or right behind one, name that whole allocation. What hangs on pointers in device memory
// is not copied. The program's own memory is read, in its stream's order, and never written: other
// threads may be at work on it.
#pragma once

#include "launch/driver/allocation.hpp"
#include "launch/driver/request.hpp"
#include "launch/kernels/kernels.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::launch {

struct Checked {
  enum class Outcome { equal, differs, not_done } outcome = Outcome::not_done;
  std::string text; // why it was not done, or what differs
};

// Where allocations of the program were copied to. Those that lie close together do so here, so
// that an address behind the end of one is in both the same place.
class Copies {
public:
  struct Range {
    CUdeviceptr base = 0;
    std::size_t bytes = 0, offset = 0; // of the copy, from the first one's
  };
  // Finds room for one more; the ranges are ascending.
  void add(CUdeviceptr base, std::size_t bytes);
  void place_at(CUdeviceptr at) { at_ = at; }
  // Of all copies together.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  [[nodiscard]] CUdeviceptr copy_of(const Range& range) const { return at_ + range.offset; }
  // Lets the addresses in these bytes of a parameter lead to the copies.
  void redirect(std::span<unsigned char> parameter) const;

private:
  std::vector<Range> ranges_;
  CUdeviceptr at_ = 0;
};

// One way to do what was asked for. `request` is the program's, and leads to the copies; so does
// whatever `copies` redirects.
struct Candidate {
  std::string name;
  std::function<CUresult(const Request& request, const Copies& copies)> run;
};

// Memory for copies, kept for the next check. From any thread.
class CheckMemory {
public:
  // At least so many bytes, until they are given back; 0: there is no room.
  CUdeviceptr take(std::size_t bytes);
  void give_back(CUdeviceptr at);

private:
  struct Room {
    Allocation memory;
    bool is_taken = false;
  };
  std::mutex mutex_; // the driver is not called under it
  std::vector<Room> rooms_;
};

// What is in front of the launch may wait for the thread that launches: it is not waited for longer
// than that.
Checked check(const Kernel& kernel, const Request& request, const Candidate& own,
              const std::vector<Candidate>& others, CheckMemory& memory,
              std::chrono::milliseconds longest_wait = std::chrono::seconds(20));

} // namespace ptxasw::launch
