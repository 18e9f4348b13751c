// The interface of a rewrite: find -> plan, cost -> what of the plan pays, emit -> edits.
//
// A pass is a folder beside this file. It has one object per kernel, which keeps the plan, so that
// edits can be emitted again when something else has been decided. Its row (PassRow) says what the
// rest of the program has to know: its name, where its outcome stands in a report, what it changes.
// The rows are listed in manager/passes.cpp, and that list is all that tells of a pass.
#pragma once

#include "passes/shared/analysed.hpp"
#include "ptx/parse.hpp"
#include "ptxasw/options.hpp"
#include "ptxasw/reason.hpp"
#include "ptxasw/report.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ptxasw::passes {

// What a rewrite needs or changes. Plans were made of one text: where two change the same, the
// second one is not emitted into that text.
enum Resource : unsigned {
  uses_loads = 1,  // which values loads bring, and in which lane
  uses_blocks = 2, // which block does which work
};

struct Emitted {
  std::vector<ptx::Edit> edits; // none: nothing
  unsigned changes = 0;         // resources
  std::string claim;            // for passes behind it: "its blocks are merged"
  bool again = false;           // they may find as much in the text that comes of it
};

// What one pass does with one kernel.
class Pass {
public:
  virtual ~Pass() = default;

  // Where the rewrite is sound, and what of it pays.
  virtual void find(Analysed& kernel) = 0;
  // What comes of the plan may be more than nothing.
  [[nodiscard]] virtual bool has_plan() const = 0;
  // The edits of the plan. May be called again.
  virtual Emitted emit(Analysed& kernel) = 0;
  // Another pass has changed what it needs: nothing is emitted this time.
  virtual void yield(Analysed& kernel, const Emitted& other) = 0;
  // What came of it: the decision of its row, and what else a report has of it.
  virtual void describe(const Analysed& kernel, KernelReport& report) const = 0;
  // It yielded, and may find as much in the text that the other pass makes.
  [[nodiscard]] virtual bool is_deferred() const { return false; }
};

// The pass, for one kernel.
template <class P>
std::unique_ptr<Pass> start(const Options& options, const ptx::Function& function) {
  if constexpr (std::is_constructible_v<P, const Options&, const ptx::Function&>)
    return std::make_unique<P>(options, function);
  else if constexpr (std::is_constructible_v<P, const Options&>)
    return std::make_unique<P>(options);
  else
    return std::make_unique<P>();
}

struct PassRow {
  std::string_view name; // its folder
  unsigned needs = 0;    // resources that no pass in front of it may have changed
  Decision KernelReport::*decision;
  std::string_view undone; // how its decision begins where a kernel was reverted: "not remapped"
  std::unique_ptr<Pass> (*start)(const Options& options, const ptx::Function& function);
};

} // namespace ptxasw::passes
