// Launches that go out together (--batch): a sequence of launches that a program makes again and
// again is put off, and handed to the driver as one graph whose parameters are set anew.
//
// For programs whose host is the bound: a launch that is put off costs it a fraction of a call.
// While they wait nobody can tell, by the rules of MERGING.md: any other call of the driver,
// another thread, and 100 microseconds without a launch have all of them made, one by one and as
// they were asked for; a launch that does not continue its stream's sequence has those of that
// stream made.
//
// What is a sequence: 4 to 64 launches of one thread to one stream, between two other calls, or
// where there are more in a row, pieces of 64, or as many passes of a shorter one as fit. One that
// came twice, so that the driver has taken
// each of its launches (kernel, grid, block, shared memory), is known. Its passes go out as graphs
// and as they come, eight and eight, and the clock tells from the begin of one pass to the begin of
// the next: graphs stay where they were faster, and are left where they were not. What is clear is
// kept for the next run of the program.
//
// A thread may launch to several streams in turn: each has its own sequences. What two streams do
// is in no order unless another call says so, and that call ends all passes; but the default stream
// waits for the others and they for it, so a launch to the one ends the passes of the others.
//
// Of a sequence that is passes through several kernels, for which there is an entry, the passes are
// merged instead, where that is faster (--steps, passes.hpp).
//
// A stream of whose launches nothing goes out is left alone, without a lock, and looked at again
// some thousand launches later, or when a kernel or a grid is launched that was not before. So is,
// for much longer, one behind whose launches other threads wait, as they do where many launch at
// the same time: they take turns here, which costs them more than a graph gains.
#pragma once

#include "launch/batch/kept_graph.hpp"
#include "launch/batch/passes.hpp"
#include "launch/waiting/turn.hpp"
#include "launch/waiting/watcher.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ptxasw::launch {

class Batcher {
public:
  // `passes`: null where none are merged. `event_comes`: an event is put into the stream.
  // `tries_behind`: passes of a short sequence are not merged within so long behind the first one.
  // `memory`: whether a graph is faster.
  Batcher(Turn& turn, std::chrono::microseconds longest_wait,
          std::chrono::microseconds tries_behind, bool makes_graphs, LaunchMemory memory,
          std::unique_ptr<Passes> passes, std::function<void(CUstream)> event_comes)
      : turn_(turn), longest_wait_(longest_wait), tries_behind_(tries_behind),
        makes_graphs_(makes_graphs), memory_(std::move(memory)), passes_(std::move(passes)),
        event_comes_(std::move(event_comes)) {}
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;
  ~Batcher() { flush(); }

  // What a launch stands for.
  struct Asked {
    const Kernel* kernel = nullptr; // that the program launches,
    Dims grid{}, block{};           // in so many blocks
    CUfunction function = nullptr;  // of the context, what the request's handle stands for
    bool waits = false; // it may begin before what is in front of it in the sequence has ended
  };

  // True: the launch will be made. False: what waited is made, and this launch is the caller's.
  bool take(const Asked& asked, const Request& request, const Launch& launch) {
    return !is_left_alone(asked, request.stream) && look_at(asked, request, launch);
  }
  // So many launches like this one need not come here as long as nothing waits.
  [[nodiscard]] std::uint64_t left_alone(const Kernel& kernel, const Request& request) const;
  // What take() left to the caller failed.
  void failed();
  // Makes what waits. From any thread. A sequence ends here.
  void flush();
  // Handles may stand for other kernels.
  void forget_handles();
  void stop() { is_stopped_ = true; }

  // Around fork(), by the thread whose turn it is.
  void before_fork() { end_all(); }
  void behind_fork_in_child() { is_stopped_ = true; }

  // Launches that went out, and in how many graphs.
  [[nodiscard]] std::uint64_t batched() const { return batched_; }
  [[nodiscard]] std::uint64_t graphs() const { return graphs_; }
  // Null where none are merged.
  [[nodiscard]] const Passes* passes() const { return passes_.get(); }

private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t longest = 64; // launches of a sequence

  struct Sequence {
    std::vector<GraphLaunch> launches; // with the parameters of the last pass that was put off
    Clock::time_point learned;
    unsigned seen = 1, missed = 0;
    bool is_decided = false, goes_out = false; // as graphs
    std::uint64_t launched = 0;                // what they are (hash_of); 0: nobody has asked yet
    unsigned passes = 0;
    std::array<std::vector<double>, 2> times; // microseconds of a pass: as they came, as graphs
    KeptGraph graph;
    PassPlan plan;
    [[nodiscard]] bool wants_graph() const;
    // True: it is decided now, and so clearly that the next run need not try.
    bool add_time(bool as_graph, double microseconds);
  };
  // What a stream has been given: its sequences, and what is waiting or was made since the last
  // other call.
  struct Lane {
    CUstream stream = nullptr;
    CUcontext context = nullptr;
    std::thread::id thread; // whose launches these are
    unsigned strays = 0;    // launches by another thread than the one before
    unsigned idle = 0;      // launches since the last that went out with others
    unsigned crowd = 0;     // of launches behind which another thread waited for its turn
    const std::type_info* form = nullptr; // the function of the driver that the program called
    std::vector<GraphLaunch> row;         // of passes that came one behind the other
    unsigned passes_in_row = 0;
    std::vector<std::unique_ptr<Sequence>> sequences;
    std::unique_ptr<const Launch> launch; // of the pass
    std::vector<GraphLaunch> segment;     // kernels, since the last other call or pass
    // A pass through a sequence: how many launches of it were taken, and whether they wait.
    Sequence* pass = nullptr;
    std::size_t taken = 0;
    bool waits = false;
    Passes::How how = Passes::How::neither;
    Clock::time_point last_taken;
    // The pass that events are around; the last one comes with whatever is behind the pass.
    Sequence* clocked = nullptr;
    bool is_over = false;
    // The pass before, for the clock.
    Sequence* timed = nullptr;
    bool timed_as_graph = false;
    Clock::time_point begun;

    // The longest known sequence that begins with what was taken of the pass, and goes on with
    // `next`.
    [[nodiscard]] Sequence* find(std::size_t length, const GraphLaunch& next) const;
    void learn(const std::vector<GraphLaunch>& made);
    void note_who_waits(bool others);
    [[nodiscard]] bool is_crowded() const;
    void end_segment();
    void end_row();
    void forget_made(); // it is no part of any sequence
    void add_to_row(const Sequence& sequence);
  };

  static constexpr std::size_t slots = 64;
  struct LeftAlone { // a stream, and how many launches of it are not looked at
    std::atomic<CUstream> stream{nullptr};
    std::atomic<unsigned> launches{0};
  };
  static std::size_t slot_number(CUstream stream) {
    return reinterpret_cast<std::uintptr_t>(stream) / 64 % slots;
  }
  LeftAlone& slot_of(CUstream stream) { return left_alone_[slot_number(stream)]; }
  [[nodiscard]] const LeftAlone& slot_of(CUstream stream) const {
    return left_alone_[slot_number(stream)];
  }
  bool is_left_alone(const Asked& asked, CUstream stream);
  static std::uint64_t bit_of(const Dims& grid, const Dims& block);
  static bool was_looked_at(const Kernel& kernel, const Dims& grid, const Dims& block) {
    return (kernel.looked_at.load(std::memory_order_relaxed) & bit_of(grid, block)) != 0;
  }
  bool look_at(const Asked& asked, const Request& request, const Launch& launch);

  // Called by the thread whose turn it is.
  void leave_alone(Lane& lane, unsigned launches);
  [[nodiscard]] bool has_default() const; // stream among those that are looked at
  [[nodiscard]] bool may_gain(const Sequence& sequence) const;
  Lane* lane_of(CUstream stream, CUcontext context);
  void change_to(Lane& lane, std::thread::id thread, const std::type_info& form);
  bool begin(Lane& lane, const Launch& launch);
  void recall(Sequence& sequence) const;
  [[nodiscard]] bool is_young(const Sequence& sequence, Clock::time_point now) const;
  bool advance(Lane& lane, const Request& request);
  void end_pass(Lane& lane);
  void end_all();
  void hand_over(Lane& lane, Sequence& sequence);
  void merge(Lane& lane, Sequence& sequence, std::size_t count);
  void begin_clock(Lane& lane);
  void end_clock(Lane& lane);
  void set_next(const Asked& asked, const Request& request);
  static void make_singly(const Lane& lane, const Sequence& sequence, std::size_t count);
  const ParameterLayout& layout_of(CUfunction function);
  bool read(GraphLaunch& into, const Request& request);
  bool look();

  Turn& turn_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unordered_map<CUfunction, ParameterLayout> layouts_;
  std::unordered_map<const Kernel*, std::shared_ptr<const Kernel>> stages_; // of launches
  GraphLaunch next_; // the launch that is looked at

  std::array<LeftAlone, slots> left_alone_{};
  std::atomic<unsigned> entering_{0}; // threads that wait for their turn
  std::atomic<bool> is_stopped_{false};
  std::atomic<std::uint64_t> batched_{0}, graphs_{0};
  const std::chrono::microseconds longest_wait_, tries_behind_;
  const bool makes_graphs_;
  const LaunchMemory memory_;
  const std::unique_ptr<Passes> passes_;
  const std::function<void(CUstream)> event_comes_;
  Watcher watcher_{[this] { return look(); }}; // the last one: it ends first
};

} // namespace ptxasw::launch
