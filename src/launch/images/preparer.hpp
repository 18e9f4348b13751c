// Has images prepared while the program runs, by a process beside it (image/background.hpp), and
// says when the store has them.
//
// What it costs the program is a copy of each image, since the program may free it as soon as it
// is loaded, at the speed of memory. All else is done by one thread, which ends when there is
// nothing more to come. It waits until no image came for a moment, starts one process for all that
// came, and looks into the store now and then, for each image the more rarely the longer it takes.
// Where steps may be merged it also asks which sequences of launches were seen, as long as there
// may be more, and has the images prepared again that have such kernels. At the end of the program
// the process is started for what is left, and not waited for.
#pragma once

#include "contract/sequences.hpp"
#include "image/prepared.hpp"
#include "launch/images/late_versions.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace ptxasw::launch {

class Preparer {
public:
  // What the store has that it had not.
  struct Come {
    image::ImageKey key;
    image::Prepared prepared;
  };
  using News = std::function<void(std::vector<Come>)>;
  // `program`: ptxasw; empty: nothing is prepared. `folder`: of the store. `news`: called by a
  // thread of ours.
  Preparer(std::string program, std::string folder, News news)
      : program_(std::move(program)), folder_(std::move(folder)), news_(std::move(news)) {}
  [[nodiscard]] bool is_possible() const { return !program_.empty(); }
  struct Seen {
    std::vector<contract::SeenSequence> sequences;
    bool are_all = false; // there will be no others
  };
  // Before the first image. `look`: called by a thread of ours.
  void look_for_sequences(std::function<Seen()> look) { look_ = std::move(look); }
  [[nodiscard]] bool looks_for_sequences() const { return look_ != nullptr; }

  enum class When : std::uint8_t { now, once_sequences_are_seen };
  // False: there is too much already.
  bool add(std::string_view chip, image::Bytes image, const LateVersions::Awaited& awaited,
           When when);
  void finish();

private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    std::string chip, image;
    LateVersions::Awaited awaited;
    bool is_awaited = true;       // it is prepared, or about to be
    unsigned again = 0;           // so often, with other sequences
    Clock::time_point begun, due; // since then it is watched; the next look
    // Of the edition that is there.
    std::vector<image::PreparedKernel> kernels;
    std::uint64_t sequences = 0;
  };
  // The thread's own.
  struct Watch {
    std::vector<Waiting> images;
    Clock::time_point since, look_due; // the last images came; sequences are asked for
    bool are_all = false;              // sequences
    [[nodiscard]] Clock::time_point due() const;
  };
  // Of one process: a fork leaves locks and threads behind that nobody has.
  struct State {
    pid_t process = 0;
    const std::vector<std::string> environment; // as the first image came
    std::mutex mutex;
    std::condition_variable more;
    std::vector<Waiting> waiting;
    std::size_t bytes = 0;
    bool has_thread = false;
  };
  State& state();
  static std::vector<const Waiting*> awaited_of(const std::vector<Waiting>& all);
  void start(const State& state, std::span<const Waiting* const> all) const;
  void work(State& state) const;
  void begin(const State& state, Watch& watch, std::vector<Waiting> all) const;
  void look(const State& state, Watch& watch) const;
  void look_for_more(const State& state, Watch& watch) const;
  std::optional<image::Prepared> come(Waiting& image) const;

  const std::string program_, folder_;
  const News news_;
  std::function<Seen()> look_;         // null: nothing is seen
  std::atomic<State*> state_{nullptr}; // never freed
};

} // namespace ptxasw::launch
