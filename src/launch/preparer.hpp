// Starts the preparation of images for the next run, beside the program (image/background.hpp).
//
// What it costs the program is a copy of each image, since the program may free it as soon as it
// is loaded, at the speed of memory. All else is done by a thread that waits until no image came
// for a moment, starts one process for all that came, looks now and then whether the store has
// them, and ends. At the end of the program the process is started for what is left, and not waited
// for.
#pragma once

#include "launch/late_versions.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace ptxasw::launch {

class Preparer {
public:
  // `program`: ptxasw; empty: nothing is prepared. `folder`: of the store. `news`: called by a
  // thread of ours when that has something new.
  Preparer(std::string program, std::string folder, std::function<void()> news)
      : program_(std::move(program)), folder_(std::move(folder)), news_(std::move(news)) {}
  [[nodiscard]] bool is_possible() const { return !program_.empty(); }
  // False: there is too much already.
  bool add(std::string_view chip, image::Bytes image, const LateVersions::Awaited& awaited);
  void finish();

private:
  struct Waiting {
    std::string chip, image;
    LateVersions::Awaited awaited;
  };
  // Of one process: a fork leaves locks and threads behind that nobody has.
  struct State {
    pid_t process = 0;
    std::mutex mutex;
    std::condition_variable more;
    std::vector<Waiting> waiting;
    std::size_t bytes = 0;
    bool has_thread = false;
  };
  State& state();
  void start(const std::vector<Waiting>& all) const;
  void work(State& state);
  void watch(std::vector<LateVersions::Awaited> images) const;

  const std::string program_, folder_;
  const std::function<void()> news_;
  std::atomic<State*> state_{nullptr}; // never freed
};

} // namespace ptxasw::launch
