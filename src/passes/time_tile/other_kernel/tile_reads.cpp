// Lists who writes each place of a tile, and asks of each reader what it finds there.
#include "passes/time_tile/other_kernel/tile_reads.hpp"

#include "passes/shared/block_rules.hpp"
#include "passes/time_tile/other_kernel/idle_barriers.hpp"
#include "passes/time_tile/polynomial/polynomial_expression.hpp"

#include <algorithm>
#include <map>

namespace ptxasw::passes {

using analysis::BlockId;
using analysis::no_block;
using emulator::Event;
using emulator::EventKind;
using ptx::Inst;
using ptx::InstId;
using sym::Term;

namespace {

constexpr unsigned steps_of_a_proof = 4000;
constexpr unsigned widest = 8; // bytes of an access
constexpr std::size_t most_elements = 8;

// A thread that writes a place.
struct Writer {
  unsigned bytes = 0;
  Formula when;
  std::vector<BlockReader::Value> values;
};

class TileReader {
public:
  TileReader(emulator::Kernel& kernel, const BlockShape& shape)
      : k_(kernel), c_(*kernel.context), shape_(shape), reader_(kernel, shape) {}

  TileReads run() {
    using Part = void (TileReader::*)();
    for (const Part part :
         {&TileReader::find_barrier, &TileReader::find_accesses, &TileReader::find_head,
          &TileReader::find_writers, &TileReader::find_reads, &TileReader::find_conditions})
      if (made_.refused.empty()) (this->*part)();
    return std::move(made_);
  }

private:
  void refuse(InstId inst, std::string_view why) {
    if (made_.refused.empty())
      made_.refused = at_line(k_.body, k_.body.insts[inst], Reason::step_shared, why);
  }

  void refuse_place(InstId inst, std::string_view why) {
    made_.is_beside = made_.refused.empty();
    refuse(inst, why);
  }

  // --- The form ----------------------------------------------------------------------------------

  // One for all threads of the block that are left, passed once, behind all stores to the tile. At
  // others nothing is told.
  void find_barrier() {
    std::vector<InstId>& barriers = made_.barriers;
    for (InstId id = 0; id < k_.body.insts.size(); ++id)
      if (ptx::group(k_.body.insts[id].op) == ptx::Group::barrier) barriers.push_back(id);
    if (barriers.empty()) {
      made_.refused = {Reason::step_shared, "shared memory without a barrier"};
      return;
    }
    const auto behind = std::ranges::find_if(barriers, [&](InstId barrier) {
      return std::ranges::all_of(k_.trace.events, [&](const Event& event) {
        return event.kind != EventKind::store || event.space != ptx::Space::shared ||
               is_in_front(event, barrier);
      });
    });
    if (behind == barriers.end() && barriers.size() > 1)
      return refuse(barriers[1], "a second barrier, behind which the tile is filled again");
    barrier_ = behind == barriers.end() ? barriers[0] : *behind;
    for (const InstId barrier : barriers)
      if (!is_plain_barrier(k_.body, k_.body.insts[barrier]))
        return refuse(barrier, "not a barrier of the whole block");
    if (k_.body.insts[barrier_].guard != ptx::none)
      return refuse(barrier_, "not a barrier of the whole block");
    if (!k_.loops.loops.empty()) return refuse(barrier_, "a barrier in a kernel with loops");
  }

  // Whoever does that comes to the barrier behind it.
  [[nodiscard]] bool is_in_front(const Event& event, InstId barrier) const {
    const BlockId meeting = k_.cfg.block_of[barrier];
    return k_.cfg.post_dominates(meeting, event.block) &&
           (event.block != meeting || event.inst < barrier);
  }

  // Stores in front of the barrier, of threads that come to it; loads behind it. All else that may
  // touch shared memory nobody knows.
  void find_accesses() {
    for (const Event& event : k_.trace.events) {
      const Inst& inst = k_.body.insts[event.inst];
      if (event.kind == EventKind::clobber) {
        if (std::ranges::find(made_.barriers, event.inst) == made_.barriers.end())
          return refuse(event.inst, "an effect beside the tile");
        continue;
      }
      if (event.space == ptx::Space::generic) return refuse(event.inst, "its space is not known");
      if (event.space != ptx::Space::shared) continue;
      if (event.ordered || inst.opaque)
        return refuse(event.inst, "volatile or ordered access to the tile");
      if (event.element_bytes > widest) return refuse(event.inst, "not one element of the tile");
      if (event.kind == EventKind::store) {
        if (!is_in_front(event, barrier_))
          return refuse(event.inst, "the tile is stored to behind the barrier, or without one");
        stores_.push_back(&event);
        continue;
      }
      if (!k_.cfg.dominates_inst(barrier_, event.inst))
        return refuse(event.inst, "the tile is read in front of the barrier");
      const ptx::Arg& into = k_.body.dst(inst)[0];
      if (event.elements != 1 || c_.value(event.guard) != sym::Bits{1} ||
          into.kind != ptx::Arg::Kind::reg || !into.selector.empty())
        return refuse(event.inst, "not a load of one element of the tile");
      loads_.push_back(&event);
    }
    if (stores_.empty() || loads_.empty())
      return refuse(barrier_, "shared memory is not filled, or not read");
    made_.has_form = true;
  }

  // In front of all that is stored to global memory.
  void find_head() {
    for (const Event& event : k_.trace.events) {
      if (event.kind != EventKind::store || event.space == ptx::Space::shared) continue;
      if (head_ == no_block) head_ = event.block;
      while (!k_.cfg.dominates(head_, event.block))
        head_ = k_.cfg.idom[head_];
    }
    if (head_ == no_block) made_.refused = {Reason::step_stores, "it stores nothing"};
  }

  // --- Who writes --------------------------------------------------------------------------------

  // Some thread may come there. What is behind the end is not emulated.
  [[nodiscard]] bool is_taken(BlockId block) const {
    return block == k_.cfg.exit() || k_.trace.executed[block];
  }

  // Under which a block goes to its successor number `n`; invalid: not known.
  Term edge(BlockId from, std::size_t n) {
    const auto& succs = k_.cfg.blocks[from].succs;
    if (!is_taken(succs[n])) return c_.boolean(false);
    if (succs.size() == 1) return c_.boolean(true);
    if (succs.size() != 2 || succs[0] == succs[1]) return {};
    const BlockId other = succs[1 - n];
    if (!is_taken(other)) return c_.boolean(true);
    const auto decided = [&](BlockId to) {
      return k_.cfg.blocks[to].preds.size() == 1 ? k_.trace.entry_fact[to] : Term{};
    };
    if (const Term own = decided(succs[n]); own.valid()) return own;
    const Term others = decided(other);
    return others.valid() ? c_.not_(others) : Term{};
  }

  // Exactly when a thread comes to the block; invalid: not known.
  Term reached(BlockId block) {
    if (block == k_.cfg.entry()) return c_.boolean(true);
    const auto [known, missing] = reached_.try_emplace(block);
    if (!missing) return known->second;
    const BlockId above = k_.cfg.idom[block];
    Term all = c_.boolean(false);
    if (k_.cfg.post_dominates(block, above)) {
      all = reached(above);
    } else {
      const std::vector<BlockId>& preds = k_.cfg.blocks[block].preds;
      for (std::size_t p = 0; p < preds.size() && all.valid(); ++p) {
        if (!k_.trace.executed[preds[p]]) continue;
        const auto& succs = k_.cfg.blocks[preds[p]].succs;
        const auto n = static_cast<std::size_t>(std::ranges::find(succs, block) - succs.begin());
        const Term from = reached(preds[p]), along = edge(preds[p], n);
        all = from.valid() && along.valid() ? c_.or_(all, c_.and_(from, along)) : Term{};
      }
    }
    return reached_[block] = all;
  }

  template <class Visit> void for_each_thread(const Visit& visit) {
    for (unsigned z = 0; z < shape_[2]; ++z)
      for (unsigned y = 0; y < shape_[1]; ++y)
        for (unsigned x = 0; x < shape_[0] && made_.refused.empty(); ++x)
          visit(ThreadInBlock{x, y, z});
  }

  void find_writers() {
    for (const Event* store : stores_) {
      const Term reach = reached(store->block);
      if (!reach.valid() || store->values.size() != store->elements)
        return refuse(store->inst, "who stores to the tile is not known");
      const Term when = c_.and_(reach, store->guard);
      for_each_thread([&](const ThreadInBlock& thread) { add_writer(*store, when, thread); });
      if (!made_.refused.empty()) return;
      made_.stores.push_back(store->inst);
    }
    for (InstId id = 0; id < k_.body.insts.size(); ++id) { // in blocks of this shape nobody does
      const Inst& inst = k_.body.insts[id];
      if (!k_.trace.executed[k_.cfg.block_of[id]] && ptx::group(inst.op) == ptx::Group::store &&
          inst.mods.space == ptx::Space::shared)
        made_.stores.push_back(id);
    }
  }

  void add_writer(const Event& store, Term condition, const ThreadInBlock& thread) {
    const auto when = reader_.condition(condition, thread);
    if (!when) return refuse(store.inst, "who stores to the tile is not known");
    if (when->kind == Formula::Kind::never) return;
    const unsigned bytes = store.element_bytes;
    for (unsigned n = 0; n < store.elements; ++n) {
      const auto place = shared(store.address, thread, n * bytes, bytes);
      if (!place) return refuse_place(store.inst, "where it stores in the tile is not known");
      need(*place, bytes);
      writers_[*place].push_back({bytes, *when, reader_.values(store.values[n], bytes, thread)});
    }
  }

  // Within its variable. How long dynamic shared memory is, a launch says.
  std::optional<BlockReader::Shared> shared(Term address, const ThreadInBlock& thread,
                                            unsigned behind, unsigned bytes) {
    auto place = reader_.shared(address, thread);
    if (!place) return std::nullopt;
    place->offset += behind;
    const std::uint64_t size = k_.body.symbols[place->symbol].size;
    if (size != 0 && static_cast<std::uint64_t>(place->offset) + bytes > size) return std::nullopt;
    return place;
  }

  void need(const BlockReader::Shared& place, unsigned bytes) {
    if (k_.body.symbols[place.symbol].size == 0)
      dynamic_ = std::max(dynamic_, place.offset + static_cast<std::int64_t>(bytes));
  }

  // --- Who reads ---------------------------------------------------------------------------------

  // What is known of a thread that stores and does the load: far from all, but nothing else.
  std::vector<Formula> facts(const Event& load, const ThreadInBlock& thread) {
    std::vector<Formula> all;
    for (unsigned axis = 0; axis < 3; ++axis)
      all.push_back(not_negative(IntegerPolynomial::coordinate(axis)));
    for (const Term fact : k_.facts_at(head_))
      if (auto known = reader_.condition(fact, thread)) {
        add_sizes(*known, all);
        all.push_back(std::move(*known));
      }
    std::vector<Formula> own;
    for (BlockId block = load.block; !k_.cfg.dominates(block, head_); block = k_.cfg.idom[block]) {
      const Term fact = k_.trace.entry_fact[block];
      if (!fact.valid()) continue;
      auto known = reader_.condition(fact, thread);
      if (!known || !is_box(*known)) return all; // a step may do the load without these
      own.push_back(std::move(*known));
    }
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }

  // Of x < n, where 0 <= x: that 0 < n.
  static void add_sizes(const Formula& formula, std::vector<Formula>& all) {
    if (formula.kind == Formula::Kind::all)
      for (const Formula& part : formula.parts)
        add_sizes(part, all);
    if (formula.kind != Formula::Kind::not_negative) return;
    bool is_below = false, is_other = false;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto along = formula.value.along(axis).constant();
      (along && *along <= 0 ? is_below : is_other) |= !along || *along != 0;
    }
    if (is_below && !is_other) all.push_back(not_negative(formula.value.elsewhere()));
  }

  // Bounds of single coordinates, and x != e, which a step's loads keep (StepLoads::facts_of).
  static bool is_box(const Formula& formula) {
    if (formula.kind == Formula::Kind::all) return std::ranges::all_of(formula.parts, is_box);
    if (formula.kind == Formula::Kind::any)
      return formula.parts.size() == 2 && std::ranges::all_of(formula.parts, is_bound) &&
             formula.parts[0].value + formula.parts[1].value == IntegerPolynomial(-2);
    return is_bound(formula);
  }
  static bool is_bound(const Formula& formula) {
    if (formula.kind != Formula::Kind::not_negative) return true; // of all threads, or of none
    unsigned axes = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const IntegerPolynomial along = formula.value.along(axis);
      if (along.is_zero()) continue;
      ++axes;
      if (along != IntegerPolynomial(1) && along != IntegerPolynomial(-1)) return false;
    }
    return axes == 1;
  }

  // From the block's first place to the thread's, and back.
  template <class Value> static Value at_place(const Value& value, const ThreadInBlock& thread) {
    std::array<Number, 3> by{};
    for (unsigned axis = 0; axis < 3; ++axis)
      by[axis] = -static_cast<Number>(thread[axis]);
    return moved_by(value, by);
  }
  static Formula in_block(const Formula& formula, const ThreadInBlock& thread) {
    std::array<Number, 3> by{};
    for (unsigned axis = 0; axis < 3; ++axis)
      by[axis] = thread[axis];
    return moved_by(formula, by);
  }
  // What a thread finds, without its condition; none: neither an element nor a number.
  static std::optional<TileElement> found_at(const BlockReader::Value& value,
                                             const ThreadInBlock& thread) {
    if (value.number) return TileElement{.number = value.number};
    if (!value.element) return std::nullopt;
    return TileElement{.parameter = value.element->parameter,
                       .offset = at_place(value.element->offset, thread)};
  }

  // A thread that does the load and stores, and what is known of it.
  struct Reader {
    ThreadInBlock thread{};
    std::vector<Formula> known;
  };

  void find_reads() {
    for (const Event* load : loads_) {
      TileLoad found = likeliest(*load);
      find_readers(*load);
      std::vector<Formula> of_writers; // by element, of who wrote it first
      for (const Reader& reader : readers_)
        if (made_.refused.empty()) find_elements(*load, found, of_writers, reader);
      if (!made_.refused.empty()) return;
      for (TileElement& element : found.elements)
        element.when = for_readers(std::move(element.when));
      if (found.elements.size() > 1 && !told_apart(*load, found)) {
        for (std::size_t n = 1; n < found.elements.size(); ++n)
          found.elements[n].when = for_readers(std::move(of_writers[n - 1]));
        if (!told_apart(*load, found))
          return refuse(load->inst, "places of the tile hold other elements");
      }
      made_.loads.push_back(std::move(found));
    }
  }

  void find_readers(const Event& load) {
    readers_.clear();
    decided_.clear();
    for_each_thread([&](const ThreadInBlock& thread) {
      Reader reader{thread, facts(load, thread)};
      if (!contradict(reader)) readers_.push_back(std::move(reader));
    });
  }

  // What most readers find. Only a guess: each of them is looked at below.
  TileLoad likeliest(const Event& load) {
    std::map<std::pair<unsigned, IntegerPolynomial::Terms>, std::pair<unsigned, IntegerPolynomial>>
        found;
    for_each_thread([&](const ThreadInBlock& thread) {
      const auto place = shared(load.address, thread, 0, load.element_bytes);
      const auto here = place ? writers_.find(*place) : writers_.end();
      if (here == writers_.end()) return;
      for (const Writer& writer : here->second)
        for (const BlockReader::Value& value : writer.values) {
          if (!value.element) continue;
          IntegerPolynomial offset = at_place(value.element->offset, thread);
          auto& [count, kept] = found[{value.element->parameter, offset.terms()}];
          ++count;
          kept = std::move(offset);
        }
    });
    if (found.empty()) {
      refuse(load.inst, "what it reads of the tile is no element of an array");
      return {};
    }
    const auto most =
        std::ranges::max_element(found, {}, [](const auto& entry) { return entry.second.first; });
    return {load.inst, {{most->first.first, most->second.second, always(true)}}};
  }

  // Whoever may have written what the thread finds; false: nobody is known to.
  template <class Visit>
  bool for_each_writer(const Event& load, const ThreadInBlock& thread, const Visit& visit) {
    const auto place = shared(load.address, thread, 0, load.element_bytes);
    if (!place) return false;
    BlockReader::Shared first = *place;
    first.offset -= widest - 1;
    for (auto at = writers_.lower_bound(first); at != writers_.end(); ++at) {
      if (at->first.symbol != place->symbol ||
          at->first.offset >= place->offset + load.element_bytes)
        break;
      for (const Writer& writer : at->second)
        if (at->first.offset + writer.bytes > place->offset)
          visit(writer, at->first == *place && writer.bytes == load.element_bytes);
    }
    return true;
  }

  // Whoever wrote there stored elements that were loaded, or numbers, and somebody did.
  void find_elements(const Event& load, TileLoad& found, std::vector<Formula>& of_writers,
                     const Reader& reader) {
    const ThreadInBlock& thread = reader.thread;
    std::vector<Formula> nobody;
    if (const auto place = shared(load.address, thread, 0, load.element_bytes))
      need(*place, load.element_bytes);
    const bool is_known = for_each_writer(load, thread, [&](const Writer& writer, bool is_it) {
      if (is_it) nobody.push_back(not_(writer.when));
      for (const BlockReader::Value& value : writer.values) {
        auto here = is_it ? found_at(value, thread) : std::nullopt;
        const auto is_here = [&](const TileElement& element) { return element.is_same(*here); };
        if (here && std::ranges::any_of(found.elements, is_here)) continue;
        if (contradict(reader, {&writer.when, &value.when})) continue;
        if (!here || found.elements.size() > most_elements)
          return refuse(load.inst, "places of the tile hold other elements");
        here->when = at_place(value.when, thread);
        found.elements.push_back(std::move(*here));
        of_writers.push_back(at_place(all_of({writer.when, value.when}), thread));
      }
    });
    if (!is_known) return refuse_place(load.inst, "where it reads in the tile is not known");
    const Formula none = all_of(std::move(nobody));
    if (!contradict(reader, {&none}))
      refuse(load.inst, "nobody may have stored what it reads of the tile");
  }

  // What is left to be asked of threads that do the load: x == 0 is x <= 0. That this is enough is
  // looked at below.
  Formula for_readers(Formula formula) {
    using enum Formula::Kind;
    if (formula.kind == all || formula.kind == any) {
      const bool is_all = formula.kind == all;
      for (Formula& part : formula.parts)
        part = part.kind == not_negative ? decided(part) : for_readers(std::move(part));
      return is_all ? all_of(std::move(formula.parts)) : any_of(std::move(formula.parts));
    }
    return formula;
  }
  Formula decided(const Formula& bound) {
    const auto [known, missing] = decided_.try_emplace(bound.value.terms(), bound);
    if (!missing) return known->second;
    bool holds = true, fails = true;
    for (const Reader& reader : readers_) {
      if (!holds && !fails) break;
      const Formula own = in_block(bound, reader.thread), other = not_(own);
      holds = holds && contradict(reader, {&other});
      fails = fails && contradict(reader, {&own});
    }
    if (holds || fails) known->second = always(holds);
    return known->second;
  }

  // Of each thread that finds an element its condition holds, and those of all others do not.
  bool told_apart(const Event& load, const TileLoad& found) {
    bool all = true;
    for (const Reader& reader : readers_)
      for_each_writer(load, reader.thread, [&](const Writer& writer, bool is_it) {
        for (const BlockReader::Value& value : writer.values) {
          const auto here = is_it && all ? found_at(value, reader.thread) : std::nullopt;
          if (!here || contradict(reader, {&writer.when, &value.when})) continue; // nobody finds it
          for (std::size_t n = 1; n < found.elements.size() && all; ++n) {
            Formula when = in_block(found.elements[n].when, reader.thread);
            if (found.elements[n].is_same(*here)) when = not_(when);
            all = contradict(reader, {&writer.when, &value.when, &when});
          }
        }
      });
    return all;
  }

  // Not all of these hold of the thread.
  bool contradict(const Reader& reader, std::initializer_list<const Formula*> more = {}) {
    std::vector<const Formula*> all;
    for (const Formula& formula : reader.known)
      all.push_back(&formula);
    all.insert(all.end(), more);
    unsigned steps = steps_of_a_proof;
    const bool found = is_contradiction(std::move(all), steps);
    c_.spend(4 * std::uint64_t{steps_of_a_proof - steps} + 16);
    return found;
  }

  void find_conditions() {
    auto conditions = reader_.conditions();
    if (!conditions) return refuse(barrier_, "an index of the tile may wrap");
    made_.conditions = std::move(*conditions);
    if (dynamic_ == 0) return;
    const contract::Expression given{{.kind = contract::Token::Kind::shared}};
    made_.conditions.push_back(
        {minus(given, number(dynamic_)), "its tile is larger than its dynamic shared memory"});
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  const BlockShape shape_;
  BlockReader reader_;
  TileReads made_;
  InstId barrier_ = 0; // at which the tile is handed on
  BlockId head_ = no_block;
  std::int64_t dynamic_ = 0; // bytes of dynamic shared memory that threads touch
  std::vector<const Event*> stores_, loads_;
  std::map<BlockId, Term> reached_;
  std::map<BlockReader::Shared, std::vector<Writer>> writers_;
  std::vector<Reader> readers_;                         // of the load at hand
  std::map<IntegerPolynomial::Terms, Formula> decided_; // bounds, as these have them
};

} // namespace

TileReads read_tile(emulator::Kernel& kernel, const BlockShape& shape) {
  return TileReader(kernel, shape).run();
}

} // namespace ptxasw::passes
