// Which kernel is behind a handle, and what its module says about it.
//
// A program launches by CUfunction, or by CUkernel as the CUDA runtime does; a variant is a
// CUfunction of one context. So what is known is kept by handle and context, until any module,
// library or context goes: then all of it is forgotten, since a handle may come again as another.
//
// A contract is read, and entries are loaded, by calls that take as long as tens of launches. Of
// kernels with time steps that is done before their first launch: when another kernel of their
// module is launched for the first time, for which the driver loads code itself. So the first loop
// of steps behind a kernel that fills its arrays finds all of it there.
#pragma once

#include "contract/contract.hpp"
#include "contract/steps.hpp"
#include "launch/driver/driver.hpp"
#include "launch/images/ahead.hpp"
#include "launch/images/late_versions.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::launch {

class Shapes; // decisions by shape of launch: shapes.hpp

struct Entry {
  CUfunction function = nullptr; // null: this module does not have it
  int most_threads = 0;          // of a block that launches
  int registers = 0;
};

struct SeenKernel;
class DeviceReader;

struct alignas(64) Kernel : std::enable_shared_from_this<Kernel> {
  std::shared_ptr<Shapes> shapes; // null: too many kernels to keep account of
  bool has_contract = false;
  CUfunction function = nullptr; // of the handle, in this context
  contract::Contract contract;
  std::vector<Entry> entries;   // as contract.variants; the first one is the kernel itself
  double threads_at_a_time = 0; // that the chip holds; 0: not known
  bool is_measured = false;     // the launcher's numbers were measured on such a chip
  double processors = 0;
  CUcontext context = nullptr;
  std::string name, chip, architecture; // "NVIDIA H200", "sm_90"
  std::string why;                      // it has no contract
  // As contract.steps; for other threads than the one that loads them only once they are ready.
  mutable std::vector<Entry> steps;
  mutable std::vector<std::vector<contract::TouchedRange>> variables; // that these read
  mutable std::vector<Entry> sequences;                               // as contract.sequences
  mutable std::atomic<bool> are_steps_ready{false};
  mutable bool are_steps_asked_for = false; // the merger's, in its turn
  // Some kernel of its module has an entry for passes through a sequence that it is a stage of.
  mutable std::atomic<bool> is_stage{false};
  std::uint64_t identity = 0; // from run to run: of its name and its code
  // What is remembered of it once a launch of it was seen (seen.hpp).
  mutable std::atomic<const SeenKernel*> seen{nullptr};
  // Shapes of its launches that a batcher has looked at, a bit each (batch.hpp).
  mutable std::atomic<std::uint64_t> looked_at{0};
  CUmodule module = nullptr;
  CUmodule versions = nullptr; // the module of its contract and its entries: its own, or one beside
};

// Asks the driver for the entries for several steps or passes, in the kernel's context: it loads
// them.
void load_steps(const Kernel& kernel);

class Kernels {
public:
  // Costs little where the handle is known to this thread: no lock, nothing shared is written.
  // Stays as it is until this thread asks again. Null while the thread ends.
  const Kernel* find(CUfunction handle);
  void forget_all();
  // Kernels with time steps or sequences are made ready ahead of their first launch from now on;
  // `found` is called where there are some.
  void prepare_steps(std::function<void()> found) { steps_found_ = std::move(found); }
  // Modules may have others beside them, with versions.
  void look_beside(LateVersions& late) { late_ = &late; }
  // What some contracts say may be known.
  void look_ahead(Ahead& ahead) { ahead_ = &ahead; }
  // Of all kernels that were ever seen, in the order of their names.
  std::vector<std::shared_ptr<Shapes>> all_shapes();

  struct Key {
    CUfunction handle = nullptr;
    CUcontext context = nullptr;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // By each thread: what a launch has to touch fits into one line of a cache.
  struct alignas(64) Remembered {
    std::uint64_t epoch = 0;
    Key key;
    const Kernel* kernel = nullptr;
  };

private:
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.handle) * 31 + std::hash<const void*>()(key.context);
    }
  };
  std::shared_ptr<const Kernel> look_up(const Key& key, std::uint64_t epoch);
  // By context, module and name.
  using Place = std::tuple<CUcontext, CUmodule, std::string>;
  std::shared_ptr<Kernel> prepared(const Kernel& named);
  std::string find_contract(Kernel& kernel, DeviceReader& reader) const;
  void prepare_others(const Kernel& first, std::uint64_t epoch, DeviceReader& reader);
  bool prepare(const Kernel& first, CUfunction function, std::uint64_t epoch, DeviceReader& reader);
  void note_stages(const Kernel& first, std::uint64_t epoch);
  std::shared_ptr<Shapes> shapes_of(const Kernel& kernel);

  // Of all that was ever known of handles: what a thread remembers of another one does not count.
  static std::uint64_t next_epoch();
  alignas(64) std::atomic<std::uint64_t> epoch_{next_epoch()};
  alignas(64) std::mutex mutex_;
  std::unordered_map<Key, std::shared_ptr<const Kernel>, Hash> known_;
  std::map<std::string, std::shared_ptr<Shapes>> shapes_; // a kernel may be loaded again
  LateVersions* late_ = nullptr;
  Ahead* ahead_ = nullptr;
  std::function<void()> steps_found_;                 // null: nothing is made ready
  std::map<Place, std::shared_ptr<Kernel>> prepared_; // not launched yet
  std::set<Place> stages_;                            // of sequences
  std::set<std::pair<CUcontext, CUmodule>> modules_;  // all of which was made ready
};

} // namespace ptxasw::launch
