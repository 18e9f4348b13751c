// Regions with a rim, where some places are not stored to (StepWriter).
#include "passes/time_tile/emit/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

// --- Masks --------------------------------------------------------------------------------------

// The places that store.
StepWriter::Mask StepWriter::find_mask() {
  Mask mask;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell % word == 0) mask.push_back(code_.mov(u32, 0));
    add_bits(mask.back(), 1U << cell % word, inside(place_of(cell)));
  }
  return mask;
}

StepWriter::Mask StepWriter::no_places() {
  Mask mask;
  for (unsigned cell = 0; cell < at_.places(); cell += word)
    mask.push_back(code_.mov(u32, 0));
  return mask;
}

void StepWriter::add_row(Mask& mask, int row, const Reg& bits, const Reg& in) {
  const int first = row * static_cast<int>(at_.columns());
  const Reg moved = code_.shl(b32, bits, first % static_cast<int>(word));
  add_bits(mask[static_cast<unsigned>(first) / word], moved, in);
}

Reg StepWriter::bit_of(const Mask& mask, unsigned cell) {
  if (bit_.empty()) bit_ = code_.make(b32);
  return code_.setp(ne, u32, code_.into(bit_).and_(b32, mask[cell / word], 1U << cell % word), 0);
}

Reg StepWriter::any_of(const Mask& mask) {
  Reg all = mask[0];
  for (const Reg& more : std::span(mask).subspan(1))
    all = code_.or_(b32, all, more);
  return code_.setp(ne, u32, all, 0);
}

// --- Which elements are loaded -----------------------------------------------------------------

// The elements of `in` that some place reads as it stores. Those of them that nobody stores to keep
// what their buffer has: they are loaded again for each step.
std::vector<StepWriter::Mask> StepWriter::find_halo() {
  std::vector<Mask> needed;
  if (separable()) {
    needed = find_stretches();
  } else {
    mask_ = find_mask();
    needed = find_flags();
  }
  find_case_masks();
  find_own();
  find_late();
  add_late_readers(needed);
  if (plan_.rotation) add_older_readers(needed);
  kept_.clear();
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    Mask& kept = kept_.emplace_back();
    for (unsigned i = 0; i < mask_.size(); ++i) {
      const Reg rest = code_.not_(b32, mask_[i]);
      kept.push_back(code_.and_(b32, needed[n][i], rest));
    }
  }
  return needed;
}

// What is read of the older array is the newer one's a step before.
void StepWriter::add_older_readers(std::vector<Mask>& needed) {
  for (unsigned i = 0; i < needed[0].size(); ++i)
    needed[0][i] = code_.or_(b32, needed[0][i], needed[1][i]);
}

// Arrays in rotation: of places that store what this entry is to read, of others the program's.
void StepWriter::load_older(unsigned n, const Mask& needed) {
  Mask stored;
  for (unsigned i = 0; i < needed.size(); ++i)
    stored.push_back(code_.and_(b32, needed[i], mask_[i]));
  load(n, in_[n], read_[n], stored);
  load(n, turns_[plan_.arrays[n].carried ? 0 : 1], read_[n], kept_[n]);
}

// What a step leaves as it is: all of this in the arrays whose turn it is. It has written what is
// read_ now.
void StepWriter::load_kept(const Column& from) {
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    if (plan_.arrays[n].carried) continue; // it has the newer image's
    const std::string behind = fmt::format("{}kept{}", labels_, kept_labels_++);
    code_.unless(any_of(kept_[n])).bra(behind);
    load(n, from[n], read_[n], kept_[n]);
    code_.label(behind);
  }
}

void StepWriter::load(unsigned n, const Reg& first, const Column& into, const Mask& mask) {
  const ptx::Type type = ptx::bits(plan_.arrays[n].bytes * 8);
  const unsigned spacing = at_.spacing(plan_.arrays[n]);
  Reg at = first, turned;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    if (column_of(cell) == 0) turned = turned_row(n, row_of(cell), at);
    const Reg from = turned_column(n, column_of(cell), turned);
    code_.when(bit_of(mask, cell))
        .into(into[cell])
        .ld(ptx::Space::global, type, {from, column_of(cell) * spacing});
  }
}

// --- Bounds -------------------------------------------------------------------------------------

Reg StepWriter::column_bits(const std::vector<Bound>& bounds, int first, int end, bool stores) {
  Reg bits = code_.mov(u32, 0);
  for (int u = first; u < end; ++u) {
    StepBody::Place place = place_;
    place[at_.axes.u] = coordinate(at_.axes.u, u);
    add_bits(bits, 1U << (u - first),
             within(bounds, place, at_.axes.u, true, stores ? inside(place, true) : Reg{}));
  }
  return bits;
}

Reg StepWriter::row_within(const std::vector<Bound>& bounds, int row, bool stores) {
  StepBody::Place place = place_;
  if (at_.has_strips()) place[at_.axes.v] = coordinate(at_.axes.v, row);
  return within(bounds, place, at_.axes.u, false, stores ? inside(place, false) : Reg{});
}

// First none.
std::vector<std::vector<Bound>> StepWriter::all_bounds() const {
  std::vector<std::vector<Bound>> all(1);
  for (const StepArray& array : plan_.arrays)
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : load.cases) {
        if (load.late) continue;
        const auto bounds = load.bounds_of(one);
        if (std::ranges::find(all, bounds) == all.end()) all.push_back(bounds);
      }
  return all;
}

// Where loads are not as in the interior.
void StepWriter::find_case_masks() {
  case_masks_.clear();
  const auto columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  for (const StepArray& array : plan_.arrays)
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : std::span(load.cases).subspan(1)) {
        const auto known = [&](const auto& made) { return made.first == one.bounds; };
        if (std::ranges::any_of(case_masks_, known)) continue;
        const Reg bits = column_bits(one.bounds, 0, columns, false);
        Mask mask = no_places();
        for (int row = 0; row < rows; ++row)
          add_row(mask, row, bits, row_within(one.bounds, row, false));
        case_masks_.emplace_back(one.bounds, std::move(mask));
      }
}

const StepWriter::Mask& StepWriter::case_mask(const std::vector<Bound>& bounds) const {
  return std::ranges::find(case_masks_, bounds, &std::pair<std::vector<Bound>, Mask>::first)
      ->second;
}

// --- Tori ---------------------------------------------------------------------------------------

Reg StepWriter::coordinate(unsigned axis, int far) {
  if (inner_ || !plan_.periods[axis]) return plus(place_[axis], far);
  Reg& turned = wrapped_[{axis, far}];
  if (!turned.empty()) return turned;
  const Reg size = code_.cvt(u32, u64, number(*plan_.periods[axis]));
  const Reg rest = code_.rem(s32, plus(place_[axis], far), size);
  const Reg above = code_.add(s32, rest, size);
  return turned = code_.selp(b32, above, rest, code_.setp(lt, s32, rest, 0));
}

// A thread's own places, and how far their elements are from where the next ones would be.
void StepWriter::find_wrapped() {
  wrapped_.clear();
  column_shift_.assign(plan_.arrays.size(), {});
  row_shift_.assign(plan_.arrays.size(), {});
  find_shifts(at_.axes.u, at_.columns(), column_shift_);
  if (at_.has_strips()) find_shifts(at_.axes.v, at_.rows(), row_shift_);
}

void StepWriter::find_shifts(unsigned axis, unsigned count, std::vector<Column>& shifts) {
  if (!plan_.periods[axis]) return;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const Reg stride = number(plan_.arrays[n].element.along(axis));
    for (unsigned at = 0; at < count; ++at) {
      // C++ does not order the arguments of a call.
      const Reg next = plus(place_[axis], at), turned = coordinate(axis, static_cast<int>(at));
      shifts[n].push_back(code_.mul(s64, widened(code_.sub(s32, turned, next)), stride));
    }
  }
}

Reg StepWriter::turned_row(unsigned n, unsigned row, const Reg& at) {
  return inner_ || row_shift_[n].empty() ? at : added(at, row_shift_[n][row]);
}

Reg StepWriter::turned_column(unsigned n, unsigned column, const Reg& at) {
  return inner_ || column_shift_[n].empty() ? at : added(at, column_shift_[n][column]);
}

// Centres cover more than a torus: of places that are in several of them one stores.
void StepWriter::find_own() {
  own_.clear();
  const unsigned u = at_.axes.u, v = at_.axes.v;
  const bool around_u = plan_.periods[u].has_value(),
             around_v = at_.has_strips() && plan_.periods[v].has_value();
  if (!around_u && !around_v) return;
  const auto same = [&](unsigned axis, unsigned far) {
    const Reg next = plus(place_[axis], far);
    return code_.setp(eq, s32, coordinate(axis, static_cast<int>(far)), next);
  };
  Reg bits = code_.mov(u32, 0);
  for (unsigned column = 0; column < at_.columns(); ++column)
    add_bits(bits, 1U << column, around_u ? same(u, column) : Reg{});
  own_ = no_places();
  for (unsigned row = 0; row < at_.rows(); ++row)
    add_row(own_, static_cast<int>(row), bits, around_v ? same(v, row) : Reg{});
  for (unsigned i = 0; i < own_.size(); ++i)
    own_[i] = code_.and_(b32, own_[i], mask_[i]);
}

// --- Who reads ----------------------------------------------------------------------------------

// A place stores if its column does and its row does: words with a bit for each column, rows as
// predicates. By bounds between which some load is done.
std::vector<StepWriter::Mask> StepWriter::find_stretches() {
  const auto columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  const int first_u = -plan_.most[at_.axes.u],
            first_v = at_.has_strips() ? -plan_.most[at_.axes.v] : 0;
  const int end_u = columns - plan_.least[at_.axes.u],
            end_v = at_.has_strips() ? rows - plan_.least[at_.axes.v] : 1;
  const auto bounds = all_bounds();
  Column in_column;
  std::vector<std::map<int, Reg>> in_row(bounds.size());
  for (std::size_t s = 0; s < bounds.size(); ++s) {
    in_column.push_back(column_bits(bounds[s], first_u, end_u, true));
    for (int v = first_v; v < end_v; ++v)
      in_row[s][v] = row_within(bounds[s], v, true);
  }
  // Columns of a row that have a place so far from them.
  const auto columns_at = [&](int u, std::size_t s) {
    return code_.and_(b32, code_.shr(u32, in_column[s], u - first_u),
                      (std::uint64_t{1} << columns) - 1);
  };
  mask_ = no_places();
  const Reg own = columns_at(0, 0);
  for (int row = 0; row < rows; ++row)
    add_row(mask_, row, own, in_row[0][row]);
  std::vector<Mask> needed;
  for (const StepArray& array : plan_.arrays) {
    std::map<std::pair<int, std::size_t>, Reg> readers; // by how far their row is
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : load.cases) {
        if (load.late) continue;
        const auto s = static_cast<std::size_t>(std::ranges::find(bounds, load.bounds_of(one)) -
                                                bounds.begin());
        const Reg some = columns_at(-offset_u(one.offset), s);
        auto [found, missing] = readers.try_emplace({-offset_v(one.offset), s}, some);
        if (!missing) found->second = code_.or_(b32, found->second, some);
      }
    Mask& mask = needed.emplace_back(no_places());
    for (int row = 0; row < rows; ++row)
      for (const auto& [who, some] : readers)
        add_row(mask, row, some, in_row[who.second][row + who.first]);
  }
  return needed;
}

// Where `in` holds, if there is such a predicate.
void StepWriter::add_bits(Reg& to, const ptx::Source& bits, const Reg& in) {
  const ptx::Source some = in.empty() ? bits : code_.selp(b32, bits, 0, in);
  to = code_.or_(b32, to, some);
}

// Places tell each other in shared memory whether they store, and between which bounds they are: a
// bit for each.
std::vector<StepWriter::Mask> StepWriter::find_flags() {
  clear_tiles();
  code_.bar_sync();
  const auto bounds = all_bounds();
  std::vector<Mask> stores{mask_};
  for (std::size_t s = 1; s < bounds.size(); ++s) {
    Mask& some = stores.emplace_back(no_places());
    const Reg bits = column_bits(bounds[s], 0, static_cast<int>(at_.columns()), false);
    for (int row = 0; row < static_cast<int>(at_.rows()); ++row)
      add_row(some, row, bits, row_within(bounds[s], row, false));
    for (unsigned i = 0; i < some.size(); ++i)
      some[i] = code_.and_(b32, some[i], mask_[i]);
  }
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    Reg flags = code_.mov(u32, 0);
    for (std::size_t s = 0; s < bounds.size(); ++s)
      add_bits(flags, 1U << s, bit_of(stores[s], cell));
    code_.st(ptx::Space::shared, ptx::unsigned_integer(flag_bits()),
             in_tile(0, 0, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
             flags);
  }
  code_.bar_sync();
  std::vector<Mask> needed;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    needed.push_back(needed_by_flags(n));
  code_.bar_sync();
  return needed;
}

// A place of the region that stores reads this element of the array.
StepWriter::Mask StepWriter::needed_by_flags(unsigned n) {
  Mask needed = no_places();
  const auto bounds = all_bounds();
  std::map<std::pair<int, int>, Reg> flags;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    Reg any = code_.mov(u32, 0);
    std::set<std::pair<Offset, std::size_t>> seen;
    for (const StepArray::Load& load : plan_.arrays[n].loads)
      for (const StepArray::Case& one : load.cases) {
        if (load.late) continue;
        const auto s = static_cast<std::size_t>(std::ranges::find(bounds, load.bounds_of(one)) -
                                                bounds.begin());
        if (!seen.emplace(one.offset, s).second) continue;
        const std::pair from{static_cast<int>(column_of(cell)) - offset_u(one.offset),
                             static_cast<int>(row_of(cell)) - offset_v(one.offset)};
        auto [flag, missing] = flags.try_emplace(from);
        if (missing)
          flag->second = code_.into(code_.make(b32))
                             .ld(ptx::Space::shared, ptx::unsigned_integer(flag_bits()),
                                 in_tile(0, 0, from.first, from.second));
        any = code_.or_(b32, any, code_.shr(u32, flag->second, s));
      }
    const Reg placed = code_.shl(b32, code_.and_(b32, any, 1), cell % word);
    needed[cell / word] = code_.or_(b32, needed[cell / word], placed);
  }
  return needed;
}

// Margins count as places that do not store.
void StepWriter::clear_tiles() {
  const unsigned words = (at_.tile_places * plan_.arrays[0].bytes + 3) / 4;
  const Reg base = code_.mov(u32, ptx::Source::address(tile_name));
  const Reg at = code_.mad(u32, thread_, 4, base);
  for (unsigned first = 0; first < words; first += at_.block()) {
    const Reg guard =
        first + at_.block() > words ? code_.setp(lt, u32, thread_, words - first) : Reg{};
    code_.when(guard).st(ptx::Space::shared, u32, {at, first * 4}, 0);
  }
}

} // namespace ptxasw::passes
