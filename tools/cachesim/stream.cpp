// Groups the accesses of threads into requests, and counts what a cache brings in.
#include "cachesim/stream.hpp"

#include <algorithm>
#include <unordered_set>

namespace ptxasw::cachesim {
namespace {

constexpr std::size_t request_threads = 32;

class Simulator {
public:
  Simulator(const Stream& stream, const CacheRun& run, const CacheObserver& observer)
      : stream_(stream), run_(run), observer_(observer), first_(run.cache) {
    if (run.second) second_.emplace(*run.second);
  }

  void group(std::span<const std::uint32_t> threads) {
    std::size_t most = 0;
    for (const std::uint32_t thread : threads)
      most = std::max(most, stream_[thread].size());
    bool any = false;
    for (std::size_t n = 0; n < most; ++n)
      for (std::size_t at = 0; at < threads.size(); at += request_threads)
        any =
            request(threads.subspan(at, std::min(request_threads, threads.size() - at)), n) || any;
    if (any) ++step_;
  }

  [[nodiscard]] CacheCounts counts() {
    counts_.distinct = seen_.size();
    return counts_;
  }

private:
  // The n-th accesses of up to 32 threads.
  bool request(std::span<const std::uint32_t> threads, std::size_t n) {
    touched_.clear();
    bool any = false;
    for (const std::uint32_t thread : threads) {
      if (n >= stream_[thread].size()) continue;
      const Touch& touch = stream_[thread][n];
      if (touch.bytes == 0 || (touch.store && !run_.stores)) continue;
      any = true;
      ++counts_.accesses;
      access(touch);
    }
    return any;
  }

  void access(const Touch& touch) {
    const std::uint64_t size = run_.cache.line_bytes, last = touch.address + (touch.bytes - 1);
    for (std::uint64_t line = touch.address / size; line <= last / size; ++line) {
      CacheEvent event{.step = step_, .line = line, .hit = true};
      event.address = std::max(touch.address, line * size);
      event.bytes =
          static_cast<std::uint32_t>(std::min(last, line * size + size - 1) - event.address + 1);
      if (std::ranges::find(touched_, line) == touched_.end()) {
        touched_.push_back(line);
        use(line, event);
      }
      if (observer_) observer_(event);
    }
  }

  void use(std::uint64_t line, CacheEvent& event) {
    const Cache::Outcome outcome = first_.touch(line);
    event.hit = outcome.hit;
    event.evicted = outcome.evicted;
    ++counts_.touches;
    ++(outcome.hit ? counts_.hits : counts_.fetches);
    counts_.evictions += outcome.evicted ? 1 : 0;
    if (outcome.hit) return;
    seen_.insert(line);
    if (second_) fetch_from_second(line);
  }

  void fetch_from_second(std::uint64_t line) {
    const std::uint64_t size = run_.second->line_bytes, first = line * run_.cache.line_bytes;
    for (std::uint64_t at = first / size; at <= (first + run_.cache.line_bytes - 1) / size; ++at)
      ++(second_->touch(at).hit ? counts_.second_hits : counts_.second_fetches);
  }

  const Stream& stream_;
  const CacheRun& run_;
  const CacheObserver& observer_;
  Cache first_;
  std::optional<Cache> second_;
  std::unordered_set<std::uint64_t> seen_;
  std::vector<std::uint64_t> touched_; // by the request
  std::uint64_t step_ = 0;
  CacheCounts counts_;
};

} // namespace

CacheCounts simulate(const Stream& stream, std::span<const std::uint32_t> order,
                     const CacheRun& run, const CacheObserver& observer) {
  Simulator simulator(stream, run, observer);
  const std::size_t group = std::max(1U, run.group);
  for (std::size_t at = 0; at < order.size(); at += group)
    simulator.group(order.subspan(at, std::min(group, order.size() - at)));
  return simulator.counts();
}

} // namespace ptxasw::cachesim
