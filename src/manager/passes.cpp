// The whole program's story is the list below. A pass is one folder, one row.
//
// Blocks are merged first: that gains most, and what is left of the loads is another kernel's. Then
// blocks and threads are put in another order. What follows changes where single loads take their
// values from; a load has one source, so the first of these that has a plan keeps the loads. Trees
// of a kernel whose blocks were merged are looked for once more, in the text that came of it.
#include "manager/passes.hpp"

#include "passes/coarsen/pass.hpp"
#include "passes/loop_carry/pass.hpp"
#include "passes/remap/pass.hpp"
#include "passes/shared/stopwatch.hpp"
#include "passes/shuffle/pass.hpp"
#include "passes/warp_reduce/pass.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ptxasw::manager {

const PassList& all_passes() {
  static const PassList list{&passes::coarsen_row, &passes::remap_row, &passes::loop_carry_row,
                             &passes::warp_reduce_row, &passes::shuffle_row};
  return list;
}

namespace {

// Adds the milliseconds of its life to a sum.
class AddedTime {
public:
  explicit AddedTime(double& sum) : sum_(sum) {}
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;
  ~AddedTime() { sum_ += time_.milliseconds(); }

private:
  double& sum_;
  passes::Stopwatch time_;
};

} // namespace

KernelPasses::KernelPasses(const PassList& list, const Options& options,
                           const ptx::Function& function) {
  for (const passes::PassRow* row : list)
    running_.push_back({row, row->start(options, function), false,
                        PassStatistics{.pass = std::string(row->name)}});
}

void KernelPasses::find(passes::Analysed& kernel) {
  for (auto running = running_.rbegin(); running != running_.rend(); ++running) {
    const AddedTime timer(running->statistics.find_ms);
    running->pass->find(kernel);
    running->statistics.planned = running->pass->has_plan() ? 1 : 0;
  }
}

bool KernelPasses::any_plan() const {
  return std::ranges::any_of(running_, [](const Running& r) { return r.pass->has_plan(); });
}

std::vector<ptx::Edit> KernelPasses::emit(passes::Analysed& kernel) {
  std::vector<ptx::Edit> edits;
  std::vector<passes::Emitted> done;
  for (Running& running : running_) {
    const AddedTime timer(running.statistics.emit_ms);
    running.emitted = false;
    const auto other = std::ranges::find_if(done, [&](const passes::Emitted& emitted) {
      return (emitted.changes & running.row->needs) != 0;
    });
    if (other != done.end()) {
      running.pass->yield(kernel, *other);
      continue;
    }
    passes::Emitted emitted = running.pass->emit(kernel);
    if (emitted.edits.empty()) continue;
    running.emitted = true;
    std::ranges::move(emitted.edits, std::back_inserter(edits));
    done.push_back({{}, emitted.changes, std::move(emitted.claim), emitted.again});
  }
  return edits;
}

void KernelPasses::describe(const passes::Analysed& kernel, KernelReport& report) const {
  for (const Running& running : running_)
    running.pass->describe(kernel, report);
}

PassList KernelPasses::deferred() const {
  PassList list;
  for (const Running& running : running_)
    if (running.pass->is_deferred()) list.push_back(running.row);
  return list;
}

PassList KernelPasses::emitted() const {
  PassList list;
  for (const Running& running : running_)
    if (running.emitted) list.push_back(running.row);
  return list;
}

std::vector<PassStatistics> KernelPasses::take_statistics() {
  std::vector<PassStatistics> result;
  for (Running& running : running_)
    result.push_back(
        std::exchange(running.statistics, PassStatistics{.pass = running.statistics.pass}));
  return result;
}

void add(std::vector<PassStatistics>& sum, const std::vector<PassStatistics>& more) {
  for (const PassStatistics& one : more) {
    auto found = std::ranges::find(sum, one.pass, &PassStatistics::pass);
    if (found == sum.end()) {
      sum.push_back(one);
      continue;
    }
    found->planned += one.planned;
    found->changed += one.changed;
    found->find_ms += one.find_ms;
    found->emit_ms += one.emit_ms;
  }
}

} // namespace ptxasw::manager
