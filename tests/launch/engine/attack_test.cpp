// Orders of launches that were once lost.
#include "passes_case.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <semaphore>
#include <string>
#include <thread>

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::PassesTest;

// A thread that does what it is told, while the other one waits.
class Helper {
public:
  Helper() : thread_([this] { work(); }) {}
  ~Helper() {
    run({});
    thread_.join();
  }
  void run(std::function<void()> what) {
    what_ = std::move(what);
    asked_.release();
    done_.acquire();
  }

private:
  void work() {
    for (;;) {
      asked_.acquire();
      const bool is_last = !what_;
      if (!is_last) what_();
      done_.release();
      if (is_last) return;
    }
  }
  std::function<void()> what_;
  std::binary_semaphore asked_{0}, done_{0};
  std::thread thread_;
};

// The launch that makes it too many threads that take turns may be the first one that waits.
TEST_F(PassesTest, AStreamThatIsGivenUpKeepsItsOrder) {
  begin();
  learn("sh", 15);
  Helper helper;
  constexpr unsigned turns = 999;
  for (unsigned n = 0; n < turns; ++n)
    if (n % 2 == 0)
      helper.run([&] { launch('d'); });
    else
      launch('d');
  how();
  launch_all("sh", 4);
  other_call();
  EXPECT_EQ(how(), "shshshsh");
}

// Part of a pass is merged ahead of a call that hands its memory to somebody else.
TEST_F(PassesTest, WhatACallEndsIsNotKnownBehindIt) {
  begin();
  learn("sh", 15);
  EXPECT_EQ(pass("sh", 6), "33");
  gpu().managed = true; // as the call has left it
  EXPECT_EQ(pass("sh", 15), "shshshshshshshshshshshshshshsh");
}

} // namespace
} // namespace ptxasw::launch
