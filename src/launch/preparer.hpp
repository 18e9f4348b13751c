// Starts the preparation of images for the next run, beside the program (image/background.hpp).
//
// What it costs the program is a copy of each image, since the program may free it as soon as it
// is loaded, at the speed of memory. All else is done by a thread that waits until no image came
// for a moment, starts one process for all that came, and ends. At the end of the program the
// process is started for what is left, and not waited for.
#pragma once

#include "image/headers.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace ptxasw::launch {

class Preparer {
public:
  // `program`: ptxasw; empty: nothing is prepared.
  explicit Preparer(std::string program) : program_(std::move(program)) {}
  [[nodiscard]] bool is_possible() const { return !program_.empty(); }
  // False: there is too much already.
  bool add(std::string_view chip, image::Bytes image);
  void finish();

private:
  struct Waiting {
    std::string chip, image;
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

  const std::string program_;
  std::atomic<State*> state_{nullptr}; // never freed
};

} // namespace ptxasw::launch
