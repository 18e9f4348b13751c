// The passes, in the order in which they are served, and how they share one text.
#pragma once

#include "passes/pass.hpp"

#include <memory>
#include <vector>

namespace ptxasw::manager {

using PassList = std::vector<const passes::PassRow*>;
const PassList& all_passes();

// The passes of a list at work on one kernel.
class KernelPasses {
public:
  KernelPasses() = default;
  KernelPasses(const PassList& list, const Options& options, const ptx::Function& function);

  // The last of the list looks first: what it plans the others may see.
  void find(passes::Analysed& kernel);
  [[nodiscard]] bool any_plan() const;
  // The edits of all that go together. What one has changed no later one of the list gets.
  std::vector<ptx::Edit> emit(passes::Analysed& kernel);
  void describe(const passes::Analysed& kernel, KernelReport& report) const;
  // Of the last time: those that yielded and may find as much in the text that comes of the others.
  [[nodiscard]] PassList deferred() const;

  // And those of which there are edits.
  [[nodiscard]] PassList emitted() const;

  // The pass of this class; none where it is not among them.
  template <typename P> [[nodiscard]] P* get() const {
    for (const Running& running : running_)
      if (auto* pass = dynamic_cast<P*>(running.pass.get())) return pass;
    return nullptr;
  }

  // Times, and plans found, since the last call.
  std::vector<PassStatistics> take_statistics();

private:
  struct Running {
    const passes::PassRow* row;
    std::unique_ptr<passes::Pass> pass;
    bool emitted = false;
    PassStatistics statistics;
  };
  std::vector<Running> running_;
};

// Adds up, by pass.
void add(std::vector<PassStatistics>& sum, const std::vector<PassStatistics>& more);

} // namespace ptxasw::manager
