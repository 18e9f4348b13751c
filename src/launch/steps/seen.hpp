// Kernels that a program launches one after the other, over and over, with the same parameters each
// time, or with other numbers among them: found out in its first launches, and written down for
// whoever prepares its images next (image/seen_sequences.hpp).
//
// Only the first launches of a process are looked at, and some behind the first one of each kernel.
// All that is done then is to write a launch down, one behind the other: what a launch of three
// microseconds costs is lines of the caches. They are compared by another thread, or when the
// program ends, each with the one so many launches before it in the same stream by the same thread,
// for each number of stages.
#pragma once

#include "contract/sequences.hpp"
#include "launch/driver/request.hpp"
#include "launch/kernels/kernels.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::launch {

// A kernel of which a launch was seen.
struct SeenKernel {
  std::string name;
  CUmodule module = nullptr;
  ParameterLayout layout;
};

class SeenLaunches {
public:
  // The next launches are to be looked at.
  [[nodiscard]] bool is_looking() const { return left_.load(std::memory_order_relaxed) > 0; }
  // No more launches will be looked at.
  [[nodiscard]] bool is_over() const { return !is_looking() && reserve_ <= 0; }
  void look(const Kernel& kernel, const Request& request) {
    if (kernel.seen.load(std::memory_order_acquire) == nullptr) begin_to_look(kernel);
    if (is_looking()) write_down(kernel, request);
  }
  // Handles may stand for other kernels.
  void forget_handles();
  // What was found so far.
  [[nodiscard]] std::vector<contract::SeenSequence> found();

private:
  static constexpr std::size_t periods = 4; // that have to be the same
  static constexpr int most_written = 16384;

  // A launch as it came.
  struct Written {
    const SeenKernel* kernel = nullptr; // null: what follows follows nothing
    CUstream stream = nullptr;
    std::thread::id thread;
    Dims grid{}, block{};
    unsigned shared = 0;
    bool is_known = false; // that it is one that may belong to a sequence, and its parameters
    std::size_t begin = 0; // of its parameters among all
  };
  struct Seen {
    const SeenKernel* kernel = nullptr;
    Dims grid{}, block{};
    unsigned shared = 0; // dynamic, bytes
    std::vector<unsigned char> parameters;
    // The same but for numbers.
    [[nodiscard]] bool is_like(const Seen& other) const;
    [[nodiscard]] bool is_same(const Seen& other, std::size_t number) const; // parameter
    [[nodiscard]] std::vector<unsigned char> value(std::size_t number) const;
  };
  // What a thread launched to a stream, one behind the other.
  struct Lane {
    std::array<Seen, periods * contract::most_stages + 1> last; // a ring
    std::size_t count = 0;                                      // launches
    // In a row that are like the one so many before.
    std::array<std::size_t, contract::most_stages + 1> alike{};
    std::size_t period = 0; // of these; 0: they have none
    std::size_t due = 0;    // behind so many what they are is told: of all stages then
    // By stage, from some launch on: which parameters had other values. In step with `count`.
    std::array<std::vector<bool>, contract::most_stages> varied;

    Seen& at(std::size_t number) { return last[number % last.size()]; }
    [[nodiscard]] const Seen& at(std::size_t number) const { return last[number % last.size()]; }
    // As many of them as a period of so many takes.
    [[nodiscard]] bool is_alike(std::size_t of) const { return alike[of] >= (periods - 1) * of; }
    void clear();
    bool compare();
    void begin(std::size_t found);
    [[nodiscard]] std::size_t count_moving(std::size_t of) const;
    [[nodiscard]] bool has_varied(std::size_t of) const;
    [[nodiscard]] std::size_t find_period() const;
    bool note_varied(std::size_t number);
  };

  void begin_to_look(const Kernel& kernel);
  void write_down(const Kernel& kernel, const Request& request);
  const SeenKernel& seen_kernel(const Kernel& kernel);
  void compare(const Written& launch, std::span<const unsigned char> parameters);
  Lane* lane_of(std::thread::id thread, CUstream stream);
  void add(const Lane& lane);
  bool add_blocks(const Lane& lane);
  void add(contract::SeenSequence made);
  static bool differ_in_numbers(const Lane& lane, std::span<const std::size_t> stages);

  // Launches that are looked at next, and may be later.
  std::atomic<int> left_{0}, reserve_{most_written};
  std::mutex mutex_; // of what launches write
  std::deque<SeenKernel> kernels_;
  std::unordered_map<CUfunction, const SeenKernel*> by_function_;
  std::vector<Written> written_; // that were not compared yet
  std::vector<unsigned char> parameters_;
  std::mutex comparing_; // of what is compared, for which no launch waits
  std::map<std::pair<std::thread::id, CUstream>, Lane> lanes_;
  std::vector<contract::SeenSequence> found_;
};

} // namespace ptxasw::launch
