// Reads numbers of both kernels, and compares them copy by copy.
#include "passes/time_tile/other_kernel/unrolled_places.hpp"

#include "analysis/liveness.hpp"
#include "passes/time_tile/polynomial/cases.hpp"
#include "passes/time_tile/step/step_axes.hpp"

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using analysis::BlockId;
using emulator::AtomKind;
using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::InstId;
using ptx::RegId;
using sym::Term;

namespace {

constexpr const char* differ = "iterations of a loop that was unrolled differ";
constexpr unsigned most_in_a_row = 8; // registers that take what the next one had
constexpr const char* not_known = "what a loop that was unrolled hands on is not known";

// How a kernel's threads know their places, and its terms as numbers. What that asks of blocks is
// asked again where steps are found.
struct Read {
  Why refused;
  Meaning meaning;
  StepPlaces places;
  std::optional<IntegerPolynomialReader> reader;

  explicit Read(emulator::Kernel& kernel) : places(kernel) {
    const FoundAxes axes = find_axes(kernel, {}, meaning, places);
    refused = axes.refused;
    for (const Term number : kernel.trace.iterations)
      if (number.valid())
        meaning.axes.emplace(number.id, 3 + kernel.context->atom_info(number).tag);
    reader.emplace(kernel, meaning);
  }
};

// whole = at_none + quantity * each; none: it has the quantity's square.
struct Along {
  IntegerPolynomial at_none, each;
};
std::optional<Along> along(const IntegerPolynomial& whole, const Quantity& quantity) {
  Along made;
  for (const auto& [factors, coefficient] : whole.terms()) {
    IntegerPolynomial::Product product = factors;
    const auto found = std::ranges::find(product, quantity);
    IntegerPolynomial& sum = found == product.end() ? made.at_none : made.each;
    if (found != product.end()) product.erase(found);
    if (std::ranges::find(product, quantity) != product.end()) return std::nullopt;
    sum.add(product, coefficient);
  }
  return made;
}

// The number of an iteration, as if it were a coordinate of the thread.
Quantity iteration(std::uint32_t loop) {
  return {.is_axis = true, .number = 3 + loop};
}

// quantity = place / by. None: what is left is no whole number.
std::optional<IntegerPolynomial> divided(const IntegerPolynomial& whole, const Quantity& quantity,
                                         const IntegerPolynomial& place, Number by) {
  const auto parts = along(whole, quantity);
  if (!parts) return std::nullopt;
  const auto each = quotient(parts->each, IntegerPolynomial(by));
  if (!each) return std::nullopt;
  return parts->at_none + *each * place;
}

// Of loads in iterations, how far from one to the next; `first` would be in the one ahead of them.
// None: they are not alike.
std::optional<IntegerPolynomial> moves_on(const LoadedFrom& first, const LoadedFrom& later,
                                          const Quantity& iteration) {
  if (first.type != later.type || first.place.parameter != later.place.parameter)
    return std::nullopt;
  const auto parts = along(later.place.offset, iteration);
  if (!parts || parts->at_none - parts->each != first.place.offset) return std::nullopt;
  return parts->each;
}

class PlacesFinder {
public:
  PlacesFinder(emulator::Kernel& kernel, const UnrolledLoop& loop, unsigned axis,
               UnrolledPlaces& made)
      : k_(kernel), c_(*kernel.context), body_(kernel.body), loop_(loop), read_(kernel),
        written_(analysis::definitions(body_)), axis_(axis), made_(made) {
    made_.refused = read_.refused;
  }

  void run() {
    if (!made_.refused.empty()) return;
    Reading reading;
    const auto end = read_.reader->read(loop_.count, reading);
    if (!end) return refuse("how often a loop that was unrolled goes round is not known");
    made_.walk = {.end = *end, .ranges = std::move(reading.ranges), .alone = true};
    made_.walk.ranges.push_back(in_type(*end, c_.width(loop_.count), true));
    find_moved();
  }

  // Each store of either loop is that of the other kernel, of the place that it is for.
  void compare(emulator::Kernel& other) {
    const Read its(other);
    if (!its.refused.empty()) {
      made_.refused = its.refused;
      return;
    }
    const ValueSide theirs{.kernel = other, .places = its.places, .reader = *its.reader};
    std::vector<const Event*> stores;
    for (const Event& event : other.trace.events)
      if (event.kind == EventKind::store) stores.push_back(&event);
    if (stores.empty() || loop_.stores.size() != stores.size() * loop_.copies ||
        (loop_.rest && loop_.rest_stores.size() != stores.size()))
      return refuse(differ);
    compare_copies(theirs, stores);
    if (!loop_.rest) return;
    for (const bool skipped : {true, false})
      compare_rest(theirs, stores, skipped);
  }

private:
  void refuse(const char* why) {
    if (made_.refused.empty()) made_.refused = {Reason::step_loop, why};
  }
  [[nodiscard]] IntegerPolynomial place() const { return IntegerPolynomial::coordinate(axis_); }

  // --- Registers that move ----------------------------------------------------------------------

  void find_moved() {
    for (const emulator::Definition& definition : k_.trace.definitions) {
      if (!definition.at_entry || definition.inst != k_.cfg.blocks[loop_.join].first ||
          !k_.liveness->live_in(loop_.join, definition.reg))
        continue;
      if (!is_written_by_loop(definition.reg)) continue;
      const auto one = moved_of(definition.reg, definition.value);
      if (!one) return refuse(not_known);
      made_.moved.push_back(*one);
    }
  }

  // Somewhere from where the loop is taken to where both ways meet.
  [[nodiscard]] bool is_written_by_loop(RegId reg) const {
    return std::ranges::any_of(written_[reg], [&](InstId id) {
      return k_.cfg.dominates(loop_.entry, k_.cfg.block_of[id]);
    });
  }

  std::optional<MovedRegister> moved_of(RegId reg, Term merged) {
    if (c_.kind(merged) != sym::Kind::ite) return std::nullopt;
    const auto args = c_.args(merged);
    const bool is_skip = args[0] == loop_.skipped;
    if (!is_skip && c_.negated(args[0]) != loop_.skipped) return std::nullopt;
    const Term first = args[is_skip ? 1 : 2], later = args[is_skip ? 2 : 1];
    MovedRegister made{.reg = reg, .by = {}, .load = load_of(first)};
    const bool is_moved = made.load ? find_reload(made, later) : find_sum(made, first, later);
    return is_moved ? std::optional(std::move(made)) : std::nullopt;
  }

  // By `by` for each of the places of all iterations so far.
  bool find_sum(MovedRegister& made, Term first, Term later) {
    const unsigned width = ptx::bit_width(body_.registers[made.reg].type);
    if (width != 32 && width != 64) return false;
    Reading reading;
    const auto grown = read_.reader->read(read_.places.at(c_.sub(later, first), 0), reading);
    if (!grown || !keep(std::move(reading.ranges))) return false;
    const auto parts = along(*grown, iteration(loop_.main));
    return parts && parts->at_none == parts->each && find_by(made, parts->each);
  }

  bool find_reload(MovedRegister& made, Term later) {
    const auto then = load_of(later);
    if (!then || body_.insts[*made.load].guard != ptx::none) return false;
    const auto base = body_.addr(body_.insts[*made.load])[0].base;
    if (base.kind != Arg::Kind::reg || written_[base.id].size() != 1) return false;
    Reading reading;
    const auto at_first = loaded_by(*made.load, reading), at_later = loaded_by(*then, reading);
    if (!at_first || !at_later || !keep(std::move(reading.ranges))) return false;
    const auto each = moves_on(*at_first, *at_later, iteration(loop_.main));
    return each && find_by(made, *each);
  }

  // For one of the copies.
  bool find_by(MovedRegister& made, const IntegerPolynomial& each) const {
    const auto by = quotient(each, IntegerPolynomial(Number{loop_.copies}));
    if (!by) return false;
    made.by = *by;
    return true;
  }

  // The load whose only result the term is.
  [[nodiscard]] std::optional<InstId> load_of(Term t) const {
    for (const emulator::Definition& definition : k_.trace.definitions)
      if (!definition.at_entry && definition.value == t &&
          ptx::group(body_.insts[definition.inst].op) == ptx::Group::load &&
          body_.dst(body_.insts[definition.inst]).size() == 1)
        return definition.inst;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<LoadedFrom> loaded_by(InstId id, Reading& reading) const {
    return ValueSide{.kernel = k_, .places = read_.places, .reader = *read_.reader}.loaded_by(
        id, 0, reading);
  }

  // Ranges of the registers behind the loop: of the places that come then.
  bool keep(std::vector<InRange> ranges) {
    for (InRange& range : ranges) {
      auto value = behind(range.value);
      if (!value) return false;
      range.value = *std::move(value);
      made_.walk.ranges.push_back(std::move(range));
    }
    return true;
  }

  [[nodiscard]] std::optional<IntegerPolynomial> behind(const IntegerPolynomial& whole) const {
    const Number copies = loop_.copies;
    return divided(whole, iteration(loop_.main), place() - IntegerPolynomial(copies), copies);
  }

  // --- What is stored ---------------------------------------------------------------------------

  ValueSide side(ValueSide::Said said, std::uint32_t number, Choices choices) {
    ValueSide made{.kernel = k_, .places = read_.places, .reader = *read_.reader};
    made.said = std::move(said);
    made.choices = std::move(choices);
    made.handed_on = [this, number](const sym::Atom& atom, Reading& reading) {
      return handed_on(atom, number, reading, 0);
    };
    return made;
  }

  void compare_copies(const ValueSide& theirs, const std::vector<const Event*>& stores) {
    std::vector<bool> is_found(loop_.stores.size(), false);
    for (unsigned copy = 0; copy < loop_.copies; ++copy) {
      const auto said = [this, copy](const IntegerPolynomial& whole) {
        return divided(whole, iteration(loop_.main), place() - IntegerPolynomial(Number{copy}),
                       loop_.copies);
      };
      SameValues same(
          side(said, loop_.main, {}), theirs,
          [this, copy](const IntegerPolynomial& whole) { return is_other(whole, copy); });
      for (const Event* const store : stores) {
        const auto found = std::ranges::find_if(loop_.stores, [&](const Event* const one) {
          return !is_found[index_of(one)] && same.same_address(one->address, store->address);
        });
        if (found == loop_.stores.end() || !are_same(same, **found, *store)) return refuse(differ);
        is_found[index_of(*found)] = true;
      }
      add(same);
    }
  }

  [[nodiscard]] std::size_t index_of(const Event* store) const {
    return static_cast<std::size_t>(std::ranges::find(loop_.stores, store) - loop_.stores.begin());
  }

  // place - d, or d - place, with d that is no place of the copy.
  [[nodiscard]] bool is_other(const IntegerPolynomial& whole, unsigned copy) const {
    constexpr Number most = Number{1} << 31;
    for (const Number sign : {1, -1}) {
      const auto rest = (place() - whole * IntegerPolynomial(sign)).constant();
      if (!rest) continue;
      const Number other = *rest;
      const bool is_no_place = other < 0 || other % loop_.copies != copy;
      if (other > -most && other < most && is_no_place) return true;
    }
    return false;
  }

  static bool are_same(SameValues& same, const Event& a, const Event& b) {
    return a.type == b.type && a.elements == b.elements && !a.values.empty() &&
           std::ranges::equal(a.values, b.values, [&](Term x, Term y) { return same.same(x, y); });
  }

  // Place by place, behind the loop or without it.
  void compare_rest(const ValueSide& theirs, const std::vector<const Event*>& stores,
                    bool skipped) {
    const Quantity again = iteration(*loop_.rest);
    const auto said = [this, skipped,
                       again](const IntegerPolynomial& whole) -> std::optional<IntegerPolynomial> {
      if (skipped) return divided(whole, again, place(), 1);
      const Number copies = loop_.copies;
      const auto made =
          divided(whole, iteration(loop_.main),
                  place() - IntegerPolynomial(again) - IntegerPolynomial(copies), copies);
      if (!made) return std::nullopt;
      const auto parts = along(*made, again);
      return parts && parts->each.is_zero() ? std::optional(*made) : std::nullopt;
    };
    ValueSide ours = side(said, *loop_.rest, {{loop_.skipped, skipped}});
    // of what is known in front of the loop, of the place with which it begins
    ours.ranges_said = [this, said, again, skipped](const IntegerPolynomial& whole) {
      const auto parts = along(whole, again);
      return !skipped && parts && parts->each.is_zero() ? behind(whole) : said(whole);
    };
    SameValues same(std::move(ours), theirs, [](const IntegerPolynomial&) { return false; });
    for (std::size_t n = 0; n < stores.size(); ++n)
      if (!same.same_address(loop_.rest_stores[n]->address, stores[n]->address) ||
          !are_same(same, *loop_.rest_stores[n], *stores[n]))
        return refuse(differ);
    add(same);
  }

  void add(SameValues& same) {
    made_.walk.ranges.insert(made_.walk.ranges.end(), same.ranges.begin(), same.ranges.end());
  }

  // In each iteration what the one before loaded, in the first one what was loaded ahead of it.
  std::optional<LoadedFrom> handed_on(const sym::Atom& atom, std::uint32_t number, Reading& reading,
                                      unsigned depth) {
    const analysis::Loop& loop = k_.loops.loops[number];
    if (depth > most_in_a_row || atom.tag != loop.header) return std::nullopt;
    const auto& preds = k_.cfg.blocks[loop.header].preds;
    const auto ahead =
        std::ranges::find_if(preds, [&](BlockId block) { return block != loop.latches[0]; });
    const auto from = [&](BlockId block) -> std::optional<LoadedFrom> {
      const Term t = SameValues::chosen(c_, *reading.choices, value_behind(k_, block, atom.tag2));
      if (!t.valid()) return std::nullopt;
      if (c_.kind(t) == sym::Kind::atom &&
          c_.atom_info(t).kind == static_cast<std::uint32_t>(AtomKind::carried))
        return handed_on(c_.atom_info(t), number, reading, depth + 1);
      const auto load = load_of(t);
      return load ? loaded_by(*load, reading) : std::nullopt;
    };
    const auto first = from(*ahead), next = from(loop.latches[0]);
    const auto each = first && next ? moves_on(*first, *next, iteration(number)) : std::nullopt;
    if (!each) return std::nullopt;
    LoadedFrom made = *next;
    made.place.offset = next->place.offset - *each;
    return made;
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  const ptx::Body& body_;
  const UnrolledLoop& loop_;
  Read read_;
  std::vector<std::vector<InstId>> written_;
  unsigned axis_;
  UnrolledPlaces& made_;
};

} // namespace

UnrolledPlaces find_places(emulator::Kernel& kernel, const UnrolledLoop& loop, unsigned axis) {
  UnrolledPlaces made;
  PlacesFinder(kernel, loop, axis, made).run();
  return made;
}

void compare_places(emulator::Kernel& kernel, const UnrolledLoop& loop, unsigned axis,
                    emulator::Kernel& other, UnrolledPlaces& places) {
  PlacesFinder(kernel, loop, axis, places).compare(other);
}

} // namespace ptxasw::passes
