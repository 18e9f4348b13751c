// What was decided and measured for the launches of a kernel, by their shape.
#pragma once

#include "contract/listing.hpp"
#include "launch/driver/driver.hpp"
#include "launch/driver/request.hpp"
#include "launch/kernels/period.hpp"
#include "launch/kernels/step_times.hpp"
#include "launch/kernels/waited_steps.hpp"
#include "target/numbers.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace ptxasw::launch {

struct Kernel;

inline constexpr unsigned no_variant = ~0U;

// Microseconds of one variant, from events around launches.
struct Timing {
  unsigned samples = 0, trials = 0; // trials: what was timed to choose, not to report
  double sum = 0, sum_of_trials = 0, least = std::numeric_limits<double>::infinity();
  std::vector<float> first; // the first so many: what the trials found
  [[nodiscard]] double mean() const { return samples == 0 ? 0 : sum / samples; }
  // The time that so large a share of the first ones does not exceed; infinite without any.
  [[nodiscard]] double at(double share) const;
  void add(double microseconds, bool is_trial);
};

// Launches of one kernel that differ in nothing but their arguments and streams.
// What each launch touches stands first.
struct alignas(64) Shape {
  Dims grid{}, block{};
  unsigned shared = 0;
  std::atomic<unsigned> chosen{0}; // index of a variant
  std::atomic<std::uint64_t> launches{0};
  std::atomic<bool> decided{true};          // false: still trying (policy measure)
  std::atomic<std::uint64_t> next_trial{0}; // the launch from which on the next one may be had
  std::vector<double> predicted;            // by variant: time of the original over time of this
  std::vector<bool> usable;                 // by variant; [0] always
  std::atomic<std::uint64_t> failed{0};     // of these, bit by bit: the driver did not take it
  [[nodiscard]] bool can_use(unsigned variant) const {
    return usable[variant] && (failed.load(std::memory_order_relaxed) >> variant & 1U) == 0;
  }
  double waves = 0;                         // threads over those that the chip holds; 0: not known
  std::atomic<std::int64_t> next_sample{0}; // until then the report times none (sampler.hpp)
  std::atomic<std::uint64_t> checked{0}, unchecked{0};
  std::atomic<std::uint64_t> early{0}; // began before the launch in front had ended
  // Of kernels with time steps (merge.hpp): one launch was successful; how many launches became how
  // many; until which number none is put off; how many in a row did not follow the one before; no
  // entry is faster; how many have to follow, before one is put off; how long runs are; and how
  // many are not looked at behind the next one that gains nothing (the merger's, in its turn).
  std::atomic<bool> launched{false};
  std::atomic<std::uint64_t> merged{0}, groups{0};
  std::atomic<std::uint64_t> back_off_until{0};
  std::atomic<unsigned> mismatches{0};
  std::atomic<bool> is_merging_slow{false};
  unsigned trigger_count = numbers::launch::first_needed;
  Period period;
  StepTimes step_times;
  WaitedSteps waited;
  unsigned quiet = numbers::launch::quiet;
  std::string steps_key; // under which what was found out is kept (decisions.hpp); empty: it is not
  // What a step wrote is copied to where it reads from: seen once; and less than it reads.
  bool copies_back = false, copies_less = false;

  // What follows is guarded by `mutex`.
  struct Pending {
    unsigned variant = 0;
    CUevent begin = nullptr, end = nullptr;
    bool is_trial = true;
  };
  std::mutex mutex;
  std::deque<Pending> pending;
  unsigned being_read = 0;     // of those that were pending, by collect()
  std::vector<Timing> timings; // by variant
  // Behind the trials, of short launches: what stays and what would replace it, timed in turn.
  bool is_kept = false; // what was found out, for the next run
  bool is_paired = false;
  std::array<unsigned, 2> pair{};
  unsigned pair_turn = 0;
  unsigned by_model = 0;
  std::int64_t last_original = 0; // timed for the report
};

class Shapes {
public:
  explicit Shapes(const Kernel& kernel);

  // Calls `decide` on a shape that is met for the first time, under no lock: it asks the driver.
  // Null where there are too many.
  template <class Decide> Shape* find(const Request& request, const Decide& decide) {
    std::atomic<Shape*>& recent = recent_[slot_of(request)];
    Shape* shape = recent.load(std::memory_order_acquire);
    if (shape != nullptr && fits(*shape, request)) return shape;
    const Key key{request.grid, request.block, request.shared};
    shape = known(key);
    if (shape == nullptr) {
      auto made = std::make_unique<Shape>();
      std::tie(made->grid, made->block, made->shared) = key;
      decide(*made);
      shape = keep(key, std::move(made));
    }
    if (shape != nullptr) recent.store(shape, std::memory_order_release);
    return shape;
  }

  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] const std::string& chip() const { return chip_; }
  [[nodiscard]] const std::string& architecture() const { return architecture_; }
  // Of the kernel as its compiler wrote it (profile/text.hpp); 0: not known.
  [[nodiscard]] std::uint64_t text() const { return text_; }
  [[nodiscard]] const std::vector<std::string>& variants() const { return variants_; }
  [[nodiscard]] const std::vector<contract::Listed>& versions() const { return versions_; }
  [[nodiscard]] std::vector<Shape*> all();
  std::atomic<std::uint64_t> launches{0};    // of a kernel without a contract
  std::atomic<std::uint64_t> cooperative{0}; // launches that are none of ours

private:
  using Key = std::tuple<Dims, Dims, unsigned>;
  Shape* known(const Key& key);
  // Another thread may have been first: then it is that one's.
  Shape* keep(const Key& key, std::unique_ptr<Shape> made);
  static std::size_t slot_of(const Request& request) {
    return (request.grid[0] * 31U + request.grid[1] * 7U + request.grid[2] +
            request.block[0] / 32U) %
           16;
  }
  static bool fits(const Shape& shape, const Request& request) {
    return shape.grid == request.grid && shape.block == request.block &&
           shape.shared == request.shared;
  }

  std::string kernel_, why_, chip_, architecture_;
  std::uint64_t text_ = 0;
  std::vector<std::string> variants_; // names
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<Shape>> shapes_; // never taken away
  std::array<std::atomic<Shape*>, 16> recent_{};
  std::vector<contract::Listed> versions_; // beside the kernel
};

// Events around one launch; nothing where the stream is being captured or events fail.
class Stopwatch {
public:
  explicit Stopwatch(CUstream stream);
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();
  [[nodiscard]] bool runs() const { return begin_ != nullptr; }
  // Hands the events over to the shape.
  void stop(Shape& shape, unsigned variant, bool is_trial);

private:
  CUstream stream_;
  CUevent begin_ = nullptr, end_ = nullptr;
};

[[nodiscard]] bool is_capturing(CUstream stream);
// Takes the times of launches that have ended. Never waits. The shape's mutex is not held: the
// driver is asked.
void collect(Shape& shape);

} // namespace ptxasw::launch
