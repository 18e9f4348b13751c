// What this program needed of the store when it ran before, found by a thread of ours while its
// driver starts, which takes a hundred times as long: what was prepared of its images, and the
// contracts of its kernels. So its first launches find both.
//
// Where the thread is not done, or the program needs something else this time, nothing waits: it is
// looked up as ever. The thread takes no lock that others take: a process that is forked meanwhile
// finds nothing ahead, and that is all.
#pragma once

#include "contract/contract.hpp"
#include "image/needed.hpp"
#include "image/prepared.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>

namespace ptxasw::launch {

class Ahead {
public:
  // `folder`: of the store; empty: there is none.
  explicit Ahead(std::string folder);
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead() { join(); }

  // As image::find, once for each, and contract::decode. What they are asked for is needed.
  std::optional<image::Prepared> find(const image::ImageKey& key);
  tl::expected<contract::Contract, std::string> decode(const std::string& bytes);
  // For the next time that the program runs. Waits for the thread: it must not be at work while the
  // process ends.
  void keep();
  // What was needed before is there.
  [[nodiscard]] bool is_done() const { return found_.is_done.load(std::memory_order_acquire); }
  // So often that was of use.
  [[nodiscard]] unsigned used() const { return used_; }

private:
  // The thread's, until it is done; then of those who hold the lock.
  struct Found {
    std::atomic<bool> is_done{false};
    image::Needed before;
    std::map<image::ImageKey, image::Prepared> images;
    std::map<std::string, contract::Contract> contracts;
  };
  void work();
  void join();

  const std::string folder_;
  const store::Key program_;
  const pid_t process_; // whose thread it is
  std::thread thread_;
  Found found_;
  std::mutex mutex_;
  image::Needed needed_;
  std::atomic<unsigned> used_{0};
};

} // namespace ptxasw::launch
