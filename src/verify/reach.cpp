// The question is put for one shape of the launch after another, so that nearly all of it folds to
// constants; parameters are asked for small values first, as they may be sizes.
#include "verify/reach.hpp"

#include "emulator/emulate.hpp"
#include "simt/code.hpp"
#include "symbolic/solver.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

namespace ptxasw::verify {

namespace {

using emulator::AtomKind;
using ptx::Special;
using simt::Dim3;
using simt::LaunchShape;
using simt::Quest;
using simt::ReachingLaunch;
using simt::ReachingLaunches;
using sym::Term;
using sym::Verdict;

using Places = std::map<std::uint64_t, std::uint64_t>;

constexpr std::size_t most_reaching_launches = 4;
// Largest value of a parameter, in this order.
constexpr std::uint64_t parameter_limits[] = {64, 1024, 8192, 131072, std::uint64_t{1} << 22};
constexpr std::uint64_t grid_limits[] = {64, 1024, 16384, 131072, 524288}; // blocks, likewise
// Of a launch that the solver makes. Kernels that are merged in large launches only call a few
// waves of all that a GPU holds, times the copies, large; nearly all of the threads then leave at
// once.
constexpr std::uint64_t most_threads = std::uint64_t{1} << 24;
constexpr Dim3 free_grid{0, 0, 0};

class ReachedKernel {
public:
  // The program must outlive this.
  explicit ReachedKernel(const simt::Program& program)
      : program_(program), kernel_(emulator::emulate(*program.module, *program.kernel,
                                                     {.time = std::chrono::seconds(5)})),
        c_(*kernel_.context), solver_(c_, {.query_budget = std::chrono::milliseconds(500),
                                           .total_budget = std::chrono::seconds(20)}) {}

  ReachingLaunches find(const Quest& quest) {
    ReachingLaunches found;
    if (!kernel_.trace.refused.empty()) return found;
    conditions_ = conditions(quest.inst);
    quest_ = &quest;
    bool impossible = !quest.shapes.empty();
    for (const LaunchShape& shape : quest.shapes) {
      if (found.ways.size() == most_reaching_launches) return found;
      impossible &= try_shape(shape, found) == Verdict::proved;
    }
    if (found.ways.empty() && quest.other_grids && !quest.full_warp) impossible &= never();
    found.impossible = impossible && found.ways.empty();
    if (found.impossible || !found.ways.empty() || !quest.other_grids) return found;
    std::set<std::array<std::uint32_t, 3>> blocks;
    for (const LaunchShape& shape : quest.shapes) {
      if (shape.block.count() < 64) continue;
      if (!blocks.insert({shape.block.x, shape.block.y, shape.block.z}).second) continue;
      if (blocks.size() > 4 || found.ways.size() == 2) break; // such launches take long
      if (!try_large_grids(shape.block, found)) try_shape({free_grid, shape.block}, found);
    }
    return found;
  }

private:
  // Grids written down come first: guards on the size of a launch multiply its sizes, which are
  // three in a kernel that walks along three axes, and products take the solver long.
  bool try_large_grids(const Dim3& block, ReachingLaunches& found) {
    constexpr std::uint32_t along = 32; // as many as one block may do the work of
    std::vector<std::uint32_t Dim3::*> axes;
    for (const auto& [index, axis] : {std::pair(Special::ctaid_x, &Dim3::x),
                                      {Special::ctaid_y, &Dim3::y},
                                      {Special::ctaid_z, &Dim3::z}})
      if (std::ranges::find(program_.specials, index) != program_.specials.end())
        axes.push_back(axis);
    if (axes.empty()) axes.push_back(&Dim3::x);
    for (std::uint64_t blocks = 1024; blocks * block.count() <= most_threads; blocks *= 4) {
      Dim3 grid{1, 1, 1};
      std::uint64_t rest = blocks;
      for (std::size_t n = 1; n < axes.size(); ++n)
        rest /= grid.*axes[n] = along;
      grid.*axes[0] = static_cast<std::uint32_t>(std::min<std::uint64_t>(rest, 65535));
      if (try_shape({grid, block}, found) == Verdict::refuted) return true;
    }
    return false;
  }

  // That must hold for a thread that executes the instruction.
  std::vector<Term> conditions(ptx::InstId inst) {
    const analysis::BlockId block = kernel_.cfg.block_of[inst];
    std::vector<Term> all = kernel_.facts_at(block);
    if (!kernel_.trace.executed[block]) all.push_back(c_.boolean(false));
    for (const emulator::Event& event : kernel_.trace.events)
      if (event.inst == inst && event.guard.valid()) all.push_back(event.guard);
    return all;
  }

  [[nodiscard]] std::optional<Special> special_of(Term atom) const {
    const sym::Atom& info = c_.atom_info(atom);
    if (info.kind != static_cast<std::uint32_t>(AtomKind::special)) return std::nullopt;
    return static_cast<Special>(info.tag);
  }
  [[nodiscard]] std::optional<std::uint64_t> parameter_of(Term atom) const {
    const sym::Atom& info = c_.atom_info(atom);
    if (info.kind != static_cast<std::uint32_t>(AtomKind::parameter)) return std::nullopt;
    return info.tag;
  }

  // The same for all threads of a launch; none: not settled.
  std::optional<std::uint64_t> settled(Term atom, const LaunchShape& shape) const {
    if (const auto place = parameter_of(atom)) {
      const auto& pointers = quest_->pointers;
      const auto pointer = std::ranges::find(pointers, *place);
      constexpr std::uint64_t first = std::uint64_t{1} << 36, apart = std::uint64_t{1} << 32;
      if (pointer != pointers.end())
        return first + apart * static_cast<std::uint64_t>(pointer - pointers.begin());
      const auto known = quest_->known.find(*place);
      if (known != quest_->known.end()) return known->second;
      return std::nullopt;
    }
    const auto special = special_of(atom);
    if (!special) return std::nullopt;
    // Along an axis that the kernel does not look at all blocks would do the same.
    const auto blocks = [&](std::uint32_t count, Special index) -> std::optional<std::uint64_t> {
      if (shape.grid != free_grid) return count;
      const bool walked = std::ranges::find(program_.specials, index) != program_.specials.end();
      return walked ? std::nullopt : std::optional<std::uint64_t>(1);
    };
    switch (*special) {
    case Special::ntid_x: return shape.block.x;
    case Special::ntid_y: return shape.block.y;
    case Special::ntid_z: return shape.block.z;
    case Special::nctaid_x: return blocks(shape.grid.x, Special::ctaid_x);
    case Special::nctaid_y: return blocks(shape.grid.y, Special::ctaid_y);
    case Special::nctaid_z: return blocks(shape.grid.z, Special::ctaid_z);
    default: return std::nullopt;
    }
  }

  // The conditions for one thread, or for any of the block; adds the atoms that are left to `free`.
  // What may differ between lanes gets atoms of this thread's own.
  void instantiate(const LaunchShape& shape, std::optional<std::uint64_t> thread,
                   std::vector<Term>& facts, std::set<Term>& free) {
    sym::Context::Substitution map;
    for (const Term condition : conditions_) {
      for (const Term atom : c_.atoms(condition)) {
        if (map.contains(atom.id)) continue;
        auto value = settled(atom, shape);
        const auto special = special_of(atom);
        if (!value && thread && special)
          value = simt::special_of_thread(*special, *thread, shape.block);
        if (value)
          map.emplace(atom.id, c_.constant(c_.width(atom), *value));
        else if (!special && c_.atom_info(atom).uniformity == sym::Uniformity::lane)
          map.emplace(atom.id, c_.atom(c_.atom_info(atom)));
      }
      const Term fact = c_.substitute(condition, map);
      facts.push_back(fact);
      for (const Term atom : c_.atoms(fact))
        free.insert(atom);
    }
  }

  // Bounds by the launch of what is free.
  void bound(const LaunchShape& shape, const std::set<Term>& free, std::vector<Term>& facts) {
    std::map<Special, Term> specials;
    for (const Term atom : free)
      if (const auto special = special_of(atom)) specials[*special] = atom;
    const auto below = [&](Special index, Special size, std::uint32_t limit) {
      if (!specials.contains(index)) return;
      const Term i = specials[index];
      if (limit != 0)
        facts.push_back(c_.ult(i, c_.constant(c_.width(i), limit)));
      else if (specials.contains(size) && c_.width(specials[size]) == c_.width(i))
        facts.push_back(c_.ult(i, specials[size]));
    };
    below(Special::tid_x, Special::ntid_x, shape.block.x);
    below(Special::tid_y, Special::ntid_y, shape.block.y);
    below(Special::tid_z, Special::ntid_z, shape.block.z);
    below(Special::ctaid_x, Special::nctaid_x, shape.grid.x);
    below(Special::ctaid_y, Special::nctaid_y, shape.grid.y);
    below(Special::ctaid_z, Special::nctaid_z, shape.grid.z);
  }

  // No thread of any launch meets the conditions.
  bool never() {
    std::vector<Term> facts;
    std::set<Term> free;
    const LaunchShape any{free_grid, free_grid};
    for (const Term condition : conditions_) {
      sym::Context::Substitution map;
      for (const Term atom : c_.atoms(condition)) {
        free.insert(atom);
        const auto value = parameter_of(atom) ? settled(atom, any) : std::nullopt;
        if (value) map.emplace(atom.id, c_.constant(c_.width(atom), *value));
      }
      facts.push_back(c_.substitute(condition, map));
    }
    bound(any, free, facts);
    return solver_.prove(facts, c_.boolean(false)).verdict == Verdict::proved;
  }

  // proved: nobody gets there in such a launch.
  Verdict try_shape(const LaunchShape& shape, ReachingLaunches& found) {
    if (!quest_->full_warp) return try_threads(shape, {std::nullopt}, found);
    Verdict all = Verdict::proved;

    const std::uint64_t warps = shape.block.count() / simt::warp_size;
    for (std::uint64_t warp = 0; warp < warps; ++warp) {
      const std::uint64_t first = warp * simt::warp_size;
      const Verdict verdict = try_threads(shape, {first, first + simt::warp_size - 1}, found);
      if (verdict == Verdict::refuted) return verdict;
      if (verdict == Verdict::unknown) all = verdict;
    }
    return all;
  }

  Verdict try_threads(const LaunchShape& shape,
                      const std::vector<std::optional<std::uint64_t>>& threads,
                      ReachingLaunches& found) {
    std::vector<Term> facts;
    std::set<Term> free;
    for (const auto& thread : threads)
      instantiate(shape, thread, facts, free);
    bound(shape, free, facts);
    if (solver_.prove(facts, c_.boolean(false)).verdict == Verdict::proved) return Verdict::proved;
    const std::size_t before = facts.size();
    for (const std::uint64_t blocks : grid_limits) {
      for (const std::uint64_t limit : parameter_limits) {
        facts.resize(before);
        limit_size(free, limit, blocks, facts);
        const sym::Answer answer = solver_.prove(facts, c_.boolean(false));
        if (answer.verdict != Verdict::refuted) continue;
        ReachingLaunch way = way_of(shape, free, answer);
        if (way.shape.grid.count() * shape.block.count() > most_threads) continue;
        found.ways.push_back(std::move(way));
        return Verdict::refuted;
      }
      if (shape.grid != free_grid) break;
    }
    return Verdict::unknown;
  }

  void limit_size(const std::set<Term>& free, std::uint64_t limit, std::uint64_t blocks,
                  std::vector<Term>& facts) {
    constexpr unsigned wide = 64; // no product of sizes wraps
    Term product = c_.constant(wide, 1);
    for (const Term atom : free) {
      const unsigned width = c_.width(atom);
      const auto special = special_of(atom);
      const bool grid = special == Special::nctaid_x || special == Special::nctaid_y ||
                        special == Special::nctaid_z;
      if (grid) {
        facts.push_back(c_.ule(atom, c_.constant(width, blocks)));
        product = c_.mul(product, c_.zext(atom, wide));
      } else if (parameter_of(atom) && width >= 32) {
        facts.push_back(c_.ule(atom, c_.constant(width, limit)));
      }
    }
    facts.push_back(c_.ule(product, c_.constant(wide, blocks)));
  }

  ReachingLaunch way_of(const LaunchShape& shape, const std::set<Term>& free,
                        const sym::Answer& answer) {
    ReachingLaunch way{shape, {}};
    if (shape.grid == free_grid) way.shape.grid = {1, 1, 1};
    for (const Term atom : free) {
      const auto value = std::ranges::find(answer.counterexample, c_.atom_info(atom).name,
                                           &std::pair<std::string, sym::Bits>::first);
      if (value == answer.counterexample.end()) continue;
      const auto number = static_cast<std::uint64_t>(value->second);
      if (const auto place = parameter_of(atom)) way.values[*place] = number;
      const auto special = special_of(atom);
      if (special == Special::nctaid_x) way.shape.grid.x = static_cast<std::uint32_t>(number);
      if (special == Special::nctaid_y) way.shape.grid.y = static_cast<std::uint32_t>(number);
      if (special == Special::nctaid_z) way.shape.grid.z = static_cast<std::uint32_t>(number);
    }
    return way;
  }

  const simt::Program& program_;
  emulator::Kernel kernel_;
  sym::Context& c_;
  sym::Solver solver_;
  const Quest* quest_ = nullptr;
  std::vector<Term> conditions_;
};

} // namespace

simt::FindReachingLaunches way_finder() {
  const auto kernels =
      std::make_shared<std::map<const simt::Program*, std::unique_ptr<ReachedKernel>>>();
  return [kernels](const Quest& quest) {
    std::unique_ptr<ReachedKernel>& kernel = (*kernels)[quest.program];
    if (!kernel) kernel = std::make_unique<ReachedKernel>(*quest.program);
    return kernel->find(quest);
  };
}

} // namespace ptxasw::verify
