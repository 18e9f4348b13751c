// Loads are taken in program order. Each looks among the earlier loads whose relaxed address
// differs from its own by a multiple of the lane stride for those that pass every condition of
// lane.hpp. Then as few loads as possible stay direct, and each other one takes its value from the
// nearest lane that a direct one offers.
#include "passes/shuffle/lane.hpp"

#include "passes/shared/address_match.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "passes/shared/between.hpp"
#include "passes/shared/pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace ptxasw::passes {

using emulator::Event;
using emulator::EventKind;
using sym::Term;

namespace {

// The .version that has all of a guarded shuffle: shfl.sync came with 6.0, activemask with 6.2.
constexpr std::pair shuffles{6U, 2U};

// Sources are direct loads only, so making a load direct costs its own cover and may gain several.
// Greedy set cover: while some load has no direct source, make direct the load that supplies most
// of those (itself included), the earliest among equals.
class DirectLoads {
public:
  // By load: where else it could be taken from, the nearest lane first.
  explicit DirectLoads(const std::vector<std::vector<ReuseSource>>& options)
      : options_(options), supplies_(options.size()), waiting_(options.size()),
        direct_(options.size(), false), supplied_(options.size(), false) {
    for (std::size_t load = 0; load < options.size(); ++load) {
      for (const ReuseSource& cover : options[load]) {
        supplies_[cover.load].push_back(load);
        ++waiting_[cover.load];
      }
    }
    for (std::size_t load = 0; load < options.size(); ++load)
      if (options[load].empty()) add(load);
  }

  [[nodiscard]] bool has(std::size_t load) const { return direct_[load]; }

  void add(std::size_t load) {
    direct_[load] = true;
    supply(load);
    for (const std::size_t other : supplies_[load])
      supply(other);
  }

  // None: each load is supplied.
  [[nodiscard]] std::optional<std::size_t> next() const {
    // Net gain in covered loads; then loads that nothing supplies; then the earliest.
    std::optional<std::size_t> best;
    std::pair<std::ptrdiff_t, bool> most;
    for (std::size_t load = 0; load < options_.size(); ++load) {
      if (direct_[load] || (waiting_[load] == 0 && supplied_[load])) continue;
      const std::pair gain{waiting_[load] - (supplied_[load] ? 1 : 0), !supplied_[load]};
      if (best && gain <= most) continue;
      most = gain;
      best = load;
    }
    return best;
  }

private:
  void supply(std::size_t load) {
    if (supplied_[load]) return;
    supplied_[load] = true;
    for (const ReuseSource& cover : options_[load])
      --waiting_[cover.load];
  }

  const std::vector<std::vector<ReuseSource>>& options_;
  std::vector<std::vector<std::size_t>> supplies_; // by load: those that it could supply
  std::vector<std::ptrdiff_t> waiting_;            // of these, not yet supplied
  std::vector<bool> direct_, supplied_;
};

class LaneReuse {
public:
  LaneReuse(emulator::Kernel& kernel, sym::Solver& solver, const LaneOptions& options)
      : k_(kernel), c_(*kernel.context), solver_(solver), options_(options), shift_(kernel),
        relaxed_(c_, shift_.tid_x()), between_(kernel),
        finder_(kernel, solver, between_,
                {.no_index_wrap = options.no_index_wrap, .paranoid = options.paranoid}) {}

  LanePlan run() {
    LanePlan plan;
    if (options_.could_pay && !any_could_pay(plan)) return plan;
    sources_.clear();
    exact_.clear();
    plan.loads.clear();
    std::vector<std::vector<ReuseSource>>
        options; // by load: every way in which it could be covered
    const auto& events = k_.trace.events;
    for (std::size_t e = 0; e < events.size(); ++e) {
      if (events[e].kind != EventKind::load) continue;
      Load load{.event = e};
      describe(load);
      options.emplace_back();
      load.kept = ineligible(events[e]);
      if (load.kept.empty()) {
        options.back() = find_reuse_sources(e, load.kept);
        add_source(e, plan.loads.size());
      }
      plan.loads.push_back(std::move(load));
    }
    choose(plan, options);
    std::vector<Justification*> all;
    for (Load& load : plan.loads)
      if (load.cover) all.push_back(&*load.cover);
    share_checks(all);
    return plan;
  }

private:
  bool any_could_pay(LanePlan& plan) {
    std::vector<std::size_t> eligible;
    bool at_distance = false;
    for (std::size_t e = 0; e < k_.trace.events.size(); ++e) {
      if (event(e).kind != EventKind::load) continue;
      Load load{.event = e};
      describe(load);
      if (ineligible(event(e)).empty()) {
        eligible.push_back(plan.loads.size());
        at_distance |= options_.could_pay(load, 1);
      }
      plan.loads.push_back(std::move(load));
    }
    return at_distance ? any_candidate_could_pay(plan, eligible) : any_again(plan, eligible);
  }

  // Where another lane's value pays for no load, only loads of the same bytes again are of use.
  bool any_again(const LanePlan& plan, const std::vector<std::size_t>& eligible) {
    std::unordered_set<std::uint32_t> seen;
    return std::ranges::any_of(eligible, [&](std::size_t n) {
      const Load& load = plan.loads[n];
      const bool is_first = seen.insert(relaxed_.of(event(load.event).address).id).second;
      return !is_first && options_.could_pay(load, 0);
    });
  }

  bool any_candidate_could_pay(const LanePlan& plan, const std::vector<std::size_t>& eligible) {
    return std::ranges::any_of(eligible, [&](std::size_t n) {
      const Load& load = plan.loads[n];
      const auto candidates = candidates_for(load.event);
      add_source(load.event, n);
      return std::ranges::any_of(candidates, [&](const Candidate& candidate) {
        return options_.could_pay(load, candidate.delta);
      });
    });
  }

  struct Candidate {
    std::size_t source = 0; // number of the load
    std::size_t event = 0;
    int delta = 0;
  };

  [[nodiscard]] const Event& event(std::size_t e) const { return k_.trace.events[e]; }

  // --- Which loads take part -------------------------------------------------------------------

  // Takes its value from nowhere, not even from the same thread.
  [[nodiscard]] Why must_be_done(const Event& load) const {
    if (load.ordered)
      return {Reason::ordered, "volatile or ordered access: every lane must do its own"};
    if (!load.plain_cache)
      return {Reason::cache_operator, "its cache operator asks for a fresh copy"};
    if (k_.body.insts[load.inst].opaque)
      return {Reason::unknown_instruction, "an operand form without semantics"};
    if (ptx::loads_some_bytes_only(k_.body, k_.body.insts[load.inst]))
      return {Reason::some_bytes, "not all of its bytes are loaded (used_bytes_mask)"};
    return {};
  }

  [[nodiscard]] Why ineligible(const Event& load) const {
    if (Why why = must_be_done(load); !why.empty()) return why;
    const bool space = load.space == ptx::Space::global || global_address(load) ||
                       (load.space == ptx::Space::shared && options_.shared);
    if (!space) return {reason_of(load.space), fmt::format("{} memory", ptx::name(load.space))};
    if (k_.loops.innermost[load.block] != ~0U && !k_.warp_uniform_loops(load.block)) {
      return {Reason::loop_trips, "in a loop whose trip count may differ between lanes"};
    }
    // 128-bit registers cannot be shuffled in 32-bit parts without a detour.
    if (!whole_registers(k_.body, load))
      return {Reason::register_width, "its value does not fill its register exactly"};
    return {};
  }

  // A generic address may turn out to be one of local memory, where the same number is another
  // place in every lane, or of shared memory, where stores by other names reach it. So it has to be
  // in a register, where lane x asks at D whether it is global: then S of lane x + N, at the same
  // address, has read global memory too.
  [[nodiscard]] bool global_address(const Event& load) const {
    if (load.space != ptx::Space::generic) return false;
    const auto addresses = k_.body.addr(k_.body.insts[load.inst]);
    return addresses.size() == 1 && addresses[0].base.kind == ptx::Arg::Kind::reg &&
           width(addresses[0].base.id) == 64;
  }

  [[nodiscard]] unsigned width(ptx::RegId reg) const {
    return ptx::bit_width(k_.body.registers[reg].type);
  }

  // --- Candidates ------------------------------------------------------------------------------

  void describe(Load& load) {
    const Event& d = event(load.event);
    load.lane_stride = relaxed_.stride(d.address);
    const std::uint32_t loop = k_.loops.innermost[d.block];
    load.iteration_stride =
        relaxed_.stride(d.address, loop == ~0U ? Term{} : k_.trace.iterations[loop]);
  }

  void add_source(std::size_t e, std::size_t load) {
    const AxisPosition position = relaxed_.position(event(e).address);
    sources_[position.key.id].push_back({load, e, position.steps});
    // Addresses with clamps or selections are not affine: look them up by what they are in the
    // neighbouring lanes.
    if (relaxed_.stride(event(e).address).kind != Stride::Kind::unknown) return;
    for (int delta = -limit(); delta <= limit(); ++delta) {
      const auto there = delta == 0 ? std::nullopt : shift_.shifted(event(e).address, delta);
      if (there) exact_[there->id].push_back({load, e, delta});
    }
  }

  [[nodiscard]] int limit() const { return static_cast<int>(std::min(options_.max_delta, 31U)); }

  std::vector<Candidate> candidates_for(std::size_t load) {
    std::vector<Candidate> result;
    const Event& d = event(load);
    const AxisPosition position = relaxed_.position(d.address);
    if (const auto found = sources_.find(position.key.id); found != sources_.end()) {
      for (const auto& [source, e, steps] : found->second) {
        const std::int64_t delta = position.steps - steps;
        if (std::abs(delta) <= limit()) result.push_back({source, e, static_cast<int>(delta)});
      }
    }
    if (const auto found = exact_.find(d.address.id); found != exact_.end()) {
      result.insert(result.end(), found->second.begin(), found->second.end());
    }
    std::ranges::stable_sort(result, {},
                             [](const Candidate& candidate) { return std::abs(candidate.delta); });
    return result;
  }

  // --- Conditions ------------------------------------------------------------------------------

  // Every earlier load that covers event `e`, nearest lane first; if there is none, why the
  // nearest one does not.
  std::vector<ReuseSource> find_reuse_sources(std::size_t e, Why& kept) {
    std::vector<ReuseSource> covers;
    Why why =
        relaxed_.stride(event(e).address).kind != Stride::Kind::unknown
            ? Why{Reason::no_source, "no earlier load of a neighbouring lane reaches this address"}
            : Why{Reason::no_source,
                  "its address is not affine in %tid.x, and no earlier load matches it"};
    bool is_nearest = true;
    for (const Candidate& candidate : candidates_for(e)) {
      if (std::optional<ReuseSource> cover = try_cover(e, candidate))
        covers.push_back(*std::move(cover));
      else if (std::exchange(is_nearest, false))
        why = reason_;
    }
    if (covers.empty()) kept = std::move(why);
    return covers;
  }

  std::optional<ReuseSource> try_cover(std::size_t load, const Candidate& candidate) {
    const Event& s = event(candidate.event);
    const Event& d = event(load);
    const std::string where =
        fmt::format("the load at line {}", ptx::line_of(k_.body, k_.body.insts[s.inst]));
    const ptx::Module& module = *k_.body.module;
    if (candidate.delta != 0 && std::pair{module.version_major, module.version_minor} < shuffles) {
      return refuse(Reason::old_module,
                    "the module is of .version {}.{}, and activemask came with 6.2",
                    module.version_major, module.version_minor);
    }
    if (!k_.cfg.dominates_inst(s.inst, d.inst)) {
      return refuse(Reason::not_dominated, "{} does not precede it on every path", where);
    }
    if (k_.loops.innermost[s.block] != k_.loops.innermost[d.block]) {
      return refuse(Reason::other_loop, "{} is in another loop nest", where);
    }
    if (!same_shape(k_.body, s, d))
      return refuse(Reason::other_type, "{} has another width or type", where);
    if (may_be_older(s, d))
      return refuse(Reason::read_only, "{} is .nc, and this one is not", where);
    if (!source_executed(s, d)) {
      return refuse(Reason::predicated, "{} is predicated and may not have run in the other lane",
                    where);
    }
    if (!undisturbed(s, d)) return std::nullopt;
    if (candidate.delta != 0 && rests_on_own_store(s, d)) return std::nullopt;

    ReuseSource cover;
    cover.load = candidate.source;
    cover.source = candidate.event;
    cover.delta = candidate.delta;
    cover.row_check = options_.block[0] == 0 || options_.block[0] % 32 != 0;
    cover.space_check = d.space == ptx::Space::generic;
    if (!prove(s, d, cover)) return std::nullopt;
    for (const ptx::Arg& dst : k_.body.dst(k_.body.insts[s.inst])) {
      cover.needs_copy |= between_.overwritten(s.inst, d.inst, dst.id);
    }
    return cover;
  }

  template <class... Args>
  std::optional<ReuseSource> refuse(Reason reason, fmt::format_string<Args...> format,
                                    Args&&... args) {
    reason_ = {reason, fmt::format(format, std::forward<Args>(args)...)};
    return std::nullopt;
  }

  // Lane x + N is active at D, so the facts of D's block hold in it too.
  bool source_executed(const Event& s, const Event& d) {
    if (took_effect(k_, s, d.block)) return true;
    return s.guard == d.guard && c_.uniformity(s.guard) <= sym::Uniformity::warp;
  }

  // Lane x itself must not have changed the bytes, nor waited for others to do so.
  bool undisturbed(const Event& s, const Event& d) {
    return between_.all_events(s.inst, d.inst, [&](const Event& e) {
      if (e.kind == EventKind::load) return true;
      const std::uint32_t line = ptx::line_of(k_.body, k_.body.insts[e.inst]);
      if (e.kind == EventKind::clobber) {
        refuse(Reason::ordered_between, "{} at line {} orders memory between the loads",
               ptx::name(k_.body.insts[e.inst].op), line);
        return false;
      }
      constexpr auto checked = GenericLoads::global_ones; // see space_check
      if (d.read_only || disjoint(c_, relaxed_, e, d, checked)) return true;
      refuse(Reason::store_between,
             "the store at line {} may write it; const __restrict__ would rule that out", line);
      return false;
    });
  }

  // A lane that has stored what it loads in D gets that from its own load. In S another lane, which
  // nothing has made wait for the store, may have read what was there before: a race, but one whose
  // outcome the kernel may throw away.
  bool rests_on_own_store(const Event& s, const Event& d) {
    if (d.read_only) return false;
    return std::ranges::any_of(k_.trace.events, [&](const Event& store) {
      if (store.kind != EventKind::store || !k_.cfg.dominates_inst(store.inst, s.inst) ||
          !surely_meet(store, d)) {
        return false;
      }
      const bool ordered = !between_.all_events(
          store.inst, s.inst, [](const Event& e) { return e.kind != EventKind::clobber; });
      if (ordered) return false;
      refuse(Reason::store_between,
             "the lane itself has stored it at line {}, and nothing orders that for others",
             ptx::line_of(k_.body, k_.body.insts[store.inst]));
      return true;
    });
  }

  [[nodiscard]] bool surely_meet(const Event& store, const Event& load) const {
    const auto bytes = c_.difference(store.address, load.address);
    return bytes && *bytes < size_of(load) && *bytes > -size_of(store);
  }

  // Z3 puts lane x + delta into the address itself.
  bool means(Term address, int delta, Term there) {
    const LaneShift::Meaning meaning = shift_.meaning(delta);
    return solver_.prove_equal_after(meaning.facts, address, meaning.map, there).verdict ==
           sym::Verdict::proved;
  }

  bool prove(const Event& s, const Event& d, ReuseSource& cover) {
    const auto there = shift_.shifted(s.address, cover.delta);
    if (!there) {
      refuse(Reason::not_affine, "its address depends on a value that each lane holds for itself");
      return false;
    }
    reason_ = {};
    if (finder_.find(
            d, *there, [&] { return means(s.address, cover.delta, *there); }, cover, reason_))
      return true;
    if (reason_.empty())
      refuse(Reason::not_proved, "not proved to be the address of lane + {} at line {}",
             cover.delta, ptx::line_of(k_.body, k_.body.insts[s.inst]));
    return false;
  }

  // --- Which loads to cover ---------------------------------------------------------------------

  void choose(LanePlan& plan, const std::vector<std::vector<ReuseSource>>& options) const {
    DirectLoads direct(options);
    const auto next = [&] {
      c_.spend(options.size() / 8);
      return direct.next();
    };
    while (const auto load = next())
      direct.add(*load);
    for (std::size_t load = 0; load < options.size(); ++load) {
      if (direct.has(load)) {
        if (!options[load].empty())
          plan.loads[load].kept = {Reason::supplies_others, "supplies others instead"};
        continue;
      }
      const auto nearest = std::ranges::find_if(
          options[load], [&](const ReuseSource& cover) { return direct.has(cover.load); });
      if (nearest != options[load].end()) plan.loads[load].cover = *nearest;
    }
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  LaneOptions options_;
  LaneShift shift_;
  AxisPolynomial relaxed_; // along %tid.x
  Between between_;
  JustificationFinder finder_;
  struct Source {
    std::size_t load = 0, event = 0;
    std::int64_t steps = 0;
  };
  std::unordered_map<std::uint32_t, std::vector<Source>> sources_;
  std::unordered_map<std::uint32_t, std::vector<Candidate>> exact_;
  Why reason_;
};

} // namespace

LanePlan find_lane_reuse(emulator::Kernel& kernel, sym::Solver& solver,
                         const LaneOptions& options) {
  return LaneReuse(kernel, solver, options).run();
}

} // namespace ptxasw::passes
