// Regions with a rim, where some places are not stored to (StepWriter).
#include "passes/time_tile/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace ptxasw::passes {

using passes::Offset;
using passes::StepArray;

namespace {

constexpr unsigned word = 32; // bits of a mask's

std::string guarded(const std::string& predicate) {
  return predicate.empty() ? "" : fmt::format("@{} ", predicate);
}

std::vector<passes::Bound> bounds_of(const StepArray::Load& load, const StepArray::Case& one) {
  std::vector<passes::Bound> bounds = load.where;
  for (const passes::Bound& bound : one.bounds)
    if (std::ranges::find(bounds, bound) == bounds.end()) bounds.push_back(bound);
  return bounds;
}

} // namespace

// --- Masks --------------------------------------------------------------------------------------

// The places that store.
StepWriter::Mask StepWriter::find_mask() {
  Mask mask;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell % word == 0) {
      mask.push_back(b32());
      text_.line("mov.u32 \t{}, 0;", mask.back());
    }
    add_bits(mask.back(), fmt::to_string(1U << cell % word), inside(place_of(cell)));
  }
  return mask;
}

StepWriter::Mask StepWriter::no_places() {
  Mask mask;
  for (unsigned cell = 0; cell < at_.places(); cell += word) {
    mask.push_back(b32());
    text_.line("mov.u32 \t{}, 0;", mask.back());
  }
  return mask;
}

void StepWriter::add_row(Mask& mask, int row, const std::string& bits, const std::string& in) {
  const int first = row * static_cast<int>(at_.columns());
  const std::string moved = b32();
  text_.line("shl.b32 \t{}, {}, {};", moved, bits, first % static_cast<int>(word));
  add_bits(mask[static_cast<unsigned>(first) / word], moved, in);
}

std::string StepWriter::bit_of(const Mask& mask, unsigned cell) {
  const std::string bit = b32();
  std::string is = predicate();
  text_.line("and.b32 \t{}, {}, {};", bit, mask[cell / word], 1U << cell % word);
  text_.line("setp.ne.u32 \t{}, {}, 0;", is, bit);
  return is;
}

std::string StepWriter::any_of(const Mask& mask) {
  std::string all = mask[0], any = predicate();
  for (const std::string& more : std::span(mask).subspan(1)) {
    const std::string both = b32();
    text_.line("or.b32 \t{}, {}, {};", both, all, more);
    all = both;
  }
  text_.line("setp.ne.u32 \t{}, {}, 0;", any, all);
  return any;
}

// --- Which elements are loaded -----------------------------------------------------------------

// The elements of `in` that some place reads as it stores. Those of them that nobody stores to keep
// what their buffer has: they are loaded again for each step.
void StepWriter::find_rim() {
  std::vector<Mask> needed;
  if (separable()) {
    needed = find_stretches();
  } else {
    mask_ = find_mask();
    needed = find_flags();
  }
  find_case_masks();
  find_own();
  if (plan_.rotation) add_older_readers(needed);
  kept_.clear();
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    Mask& kept = kept_.emplace_back();
    for (unsigned i = 0; i < mask_.size(); ++i) {
      const std::string rest = b32();
      kept.push_back(b32());
      text_.line("not.b32 \t{}, {};", rest, mask_[i]);
      text_.line("and.b32 \t{}, {}, {};", kept[i], needed[n][i], rest);
    }
    if (plan_.rotation)
      load_older(n, needed[n]);
    else
      load(n, in_[n], read_[n], needed[n]);
  }
}

// What is read of the older array is the newer one's a step before.
void StepWriter::add_older_readers(std::vector<Mask>& needed) {
  for (unsigned i = 0; i < needed[0].size(); ++i) {
    const std::string either = b32();
    text_.line("or.b32 \t{}, {}, {};", either, needed[0][i], needed[1][i]);
    needed[0][i] = either;
  }
}

// Arrays in rotation: of places that store what this entry is to read, of others the program's.
void StepWriter::load_older(unsigned n, const Mask& needed) {
  Mask stored;
  for (unsigned i = 0; i < needed.size(); ++i) {
    stored.push_back(b32());
    text_.line("and.b32 \t{}, {}, {};", stored[i], needed[i], mask_[i]);
  }
  load(n, in_[n], read_[n], stored);
  load(n, turns_[plan_.arrays[n].carried ? 0 : 1], read_[n], kept_[n]);
}

// What a step leaves as it is: all of this in the arrays whose turn it is.
void StepWriter::load_kept(const std::vector<std::vector<std::string>>& turns) {
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    if (plan_.arrays[n].carried) continue; // it has the newer image's
    const std::string any = any_of(kept_[n]);
    const std::string behind = fmt::format("{}kept{}", labels_, kept_labels_++);
    text_.line("@!{} bra \t{};", any, behind);
    load(n, turns[n].front(), write_[n], kept_[n]);
    text_.label(behind);
  }
}

void StepWriter::load(unsigned n, const std::string& first, const Column& into, const Mask& mask) {
  const unsigned bytes = plan_.arrays[n].bytes;
  std::string at = first, turned;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    if (column_of(cell) == 0) turned = turned_row(n, row_of(cell), at);
    text_.line("@{} ld.global.b{} \t{}, [{}+{}];", bit_of(mask, cell), bytes * 8, into[cell],
               turned_column(n, column_of(cell), turned), column_of(cell) * bytes);
  }
}

// --- Bounds -------------------------------------------------------------------------------------

std::string StepWriter::holds(const passes::Bound& bound, const std::string& coordinate) {
  const contract::Expression at = passes::expression_of(bound.at);
  std::string& number_at = numbers_[contract::to_word(at)];
  if (number_at.empty()) number_at = number(bound.at);
  std::string is = predicate();
  text_.line("setp.{}.s64 \t{}, {}, {};", bound.below ? "lt" : "ge", is, widened(coordinate),
             number_at);
  return is;
}

std::string StepWriter::within(const std::vector<passes::Bound>& bounds,
                               const StepBody::Place& place, unsigned axis, bool along,
                               std::string all) {
  for (const passes::Bound& bound : bounds) {
    if ((bound.axis == axis) != along) continue;
    const std::string one = holds(bound, place[bound.axis]);
    if (all.empty()) {
      all = one;
      continue;
    }
    const std::string both = predicate();
    text_.line("and.pred \t{}, {}, {};", both, all, one);
    all = both;
  }
  return all;
}

std::string StepWriter::column_bits(const std::vector<passes::Bound>& bounds, int first, int end,
                                    bool stores) {
  std::string bits = b32();
  text_.line("mov.u32 \t{}, 0;", bits);
  for (int u = first; u < end; ++u) {
    StepBody::Place place = place_;
    place[at_.axes.u] = coordinate(at_.axes.u, u);
    add_bits(bits, fmt::to_string(1U << (u - first)),
             within(bounds, place, at_.axes.u, true, stores ? inside(place, true) : ""));
  }
  return bits;
}

std::string StepWriter::row_within(const std::vector<passes::Bound>& bounds, int row, bool stores) {
  StepBody::Place place = place_;
  if (at_.has_strips()) place[at_.axes.v] = coordinate(at_.axes.v, row);
  return within(bounds, place, at_.axes.u, false, stores ? inside(place, false) : "");
}

// First none.
std::vector<std::vector<passes::Bound>> StepWriter::all_bounds() const {
  std::vector<std::vector<passes::Bound>> all(1);
  for (const StepArray& array : plan_.arrays)
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : load.cases) {
        const auto bounds = bounds_of(load, one);
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
        const std::string bits = column_bits(one.bounds, 0, columns, false);
        Mask mask = no_places();
        for (int row = 0; row < rows; ++row)
          add_row(mask, row, bits, row_within(one.bounds, row, false));
        case_masks_.emplace_back(one.bounds, std::move(mask));
      }
}

const StepWriter::Mask& StepWriter::case_mask(const std::vector<passes::Bound>& bounds) const {
  return std::ranges::find(case_masks_, bounds, &std::pair<std::vector<passes::Bound>, Mask>::first)
      ->second;
}

// --- Tori ---------------------------------------------------------------------------------------

std::string StepWriter::coordinate(unsigned axis, int far) {
  if (inner_ || !plan_.periods[axis]) return plus(place_[axis], far);
  std::string& turned = wrapped_[{axis, far}];
  if (!turned.empty()) return turned;
  turned = b32();
  const std::string size = b32(), rest = b32(), above = b32(), less = predicate();
  text_.line("cvt.u32.u64 \t{}, {};", size, number(*plan_.periods[axis]));
  text_.line("rem.s32 \t{}, {}, {};", rest, plus(place_[axis], far), size);
  text_.line("add.s32 \t{}, {}, {};", above, rest, size);
  text_.line("setp.lt.s32 \t{}, {}, 0;", less, rest);
  text_.line("selp.b32 \t{}, {}, {}, {};", turned, above, rest, less);
  return turned;
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
    const std::string stride = number(plan_.arrays[n].element.along(axis));
    for (unsigned at = 0; at < count; ++at) {
      const std::string far = b32(), shift = b64();
      text_.line("sub.s32 \t{}, {}, {};", far, coordinate(axis, static_cast<int>(at)),
                 plus(place_[axis], at));
      text_.line("mul.lo.s64 \t{}, {}, {};", shift, widened(far), stride);
      shifts[n].push_back(shift);
    }
  }
}

std::string StepWriter::turned_row(unsigned n, unsigned row, const std::string& at) {
  return inner_ || row_shift_[n].empty() ? at : added(at, row_shift_[n][row]);
}

std::string StepWriter::turned_column(unsigned n, unsigned column, const std::string& at) {
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
    std::string is = predicate();
    text_.line("setp.eq.s32 \t{}, {}, {};", is, coordinate(axis, static_cast<int>(far)),
               plus(place_[axis], far));
    return is;
  };
  std::string bits = b32();
  text_.line("mov.u32 \t{}, 0;", bits);
  for (unsigned column = 0; column < at_.columns(); ++column)
    add_bits(bits, fmt::to_string(1U << column), around_u ? same(u, column) : "");
  own_ = no_places();
  for (unsigned row = 0; row < at_.rows(); ++row)
    add_row(own_, static_cast<int>(row), bits, around_v ? same(v, row) : "");
  for (unsigned i = 0; i < own_.size(); ++i) {
    const std::string stored = b32();
    text_.line("and.b32 \t{}, {}, {};", stored, own_[i], mask_[i]);
    own_[i] = stored;
  }
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
  std::vector<std::string> in_column;
  std::vector<std::map<int, std::string>> in_row(bounds.size());
  for (std::size_t s = 0; s < bounds.size(); ++s) {
    in_column.push_back(column_bits(bounds[s], first_u, end_u, true));
    for (int v = first_v; v < end_v; ++v)
      in_row[s][v] = row_within(bounds[s], v, true);
  }
  // Columns of a row that have a place so far from them.
  const auto columns_at = [&](int u, std::size_t s) {
    const std::string moved = b32();
    std::string some = b32();
    text_.line("shr.u32 \t{}, {}, {};", moved, in_column[s], u - first_u);
    text_.line("and.b32 \t{}, {}, {};", some, moved, (std::uint64_t{1} << columns) - 1);
    return some;
  };
  mask_ = no_places();
  const std::string own = columns_at(0, 0);
  for (int row = 0; row < rows; ++row)
    add_row(mask_, row, own, in_row[0][row]);
  std::vector<Mask> needed;
  for (const StepArray& array : plan_.arrays) {
    std::map<std::pair<int, std::size_t>, std::string> readers; // by how far their row is
    for (const StepArray::Load& load : array.loads)
      for (const StepArray::Case& one : load.cases) {
        const auto s = static_cast<std::size_t>(std::ranges::find(bounds, bounds_of(load, one)) -
                                                bounds.begin());
        const std::string some = columns_at(-offset_u(one.offset), s);
        auto [found, missing] = readers.try_emplace({-offset_v(one.offset), s}, some);
        if (missing) continue;
        const std::string both = b32();
        text_.line("or.b32 \t{}, {}, {};", both, found->second, some);
        found->second = both;
      }
    Mask& mask = needed.emplace_back(no_places());
    for (int row = 0; row < rows; ++row)
      for (const auto& [who, some] : readers)
        add_row(mask, row, some, in_row[who.second][row + who.first]);
  }
  return needed;
}

// Where `in` holds, if there is such a predicate.
void StepWriter::add_bits(std::string& to, const std::string& bits, const std::string& in) {
  std::string some = bits;
  const std::string more = b32();
  if (!in.empty()) {
    some = b32();
    text_.line("selp.b32 \t{}, {}, 0, {};", some, bits, in);
  }
  text_.line("or.b32 \t{}, {}, {};", more, to, some);
  to = more;
}

// Places tell each other in shared memory whether they store, and between which bounds they are: a
// bit for each.
std::vector<StepWriter::Mask> StepWriter::find_flags() {
  clear_tiles();
  barrier();
  const auto bounds = all_bounds();
  std::vector<Mask> stores{mask_};
  for (std::size_t s = 1; s < bounds.size(); ++s) {
    Mask& some = stores.emplace_back(no_places());
    const std::string bits = column_bits(bounds[s], 0, static_cast<int>(at_.columns()), false);
    for (int row = 0; row < static_cast<int>(at_.rows()); ++row)
      add_row(some, row, bits, row_within(bounds[s], row, false));
    for (unsigned i = 0; i < some.size(); ++i) {
      const std::string both = b32();
      text_.line("and.b32 \t{}, {}, {};", both, some[i], mask_[i]);
      some[i] = both;
    }
  }
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    std::string flags = b32();
    text_.line("mov.u32 \t{}, 0;", flags);
    for (std::size_t s = 0; s < bounds.size(); ++s)
      add_bits(flags, fmt::to_string(1U << s), bit_of(stores[s], cell));
    text_.line("st.shared.u{} \t{}, {};", flag_bits(),
               in_tile(0, 0, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
               flags);
  }
  barrier();
  std::vector<Mask> needed;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    needed.push_back(needed_by_flags(n));
  barrier();
  return needed;
}

// A place of the region that stores reads this element of the array.
StepWriter::Mask StepWriter::needed_by_flags(unsigned n) {
  Mask needed = no_places();
  const auto bounds = all_bounds();
  std::map<std::pair<int, int>, std::string> flags;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    std::string any = b32();
    text_.line("mov.u32 \t{}, 0;", any);
    std::set<std::pair<Offset, std::size_t>> seen;
    for (const StepArray::Load& load : plan_.arrays[n].loads)
      for (const StepArray::Case& one : load.cases) {
        const auto s = static_cast<std::size_t>(std::ranges::find(bounds, bounds_of(load, one)) -
                                                bounds.begin());
        if (!seen.emplace(one.offset, s).second) continue;
        const std::pair from{static_cast<int>(column_of(cell)) - offset_u(one.offset),
                             static_cast<int>(row_of(cell)) - offset_v(one.offset)};
        auto [flag, missing] = flags.try_emplace(from);
        if (missing) {
          flag->second = b32();
          text_.line("ld.shared.u{} \t{}, {};", flag_bits(), flag->second,
                     in_tile(0, 0, from.first, from.second));
        }
        const std::string moved = b32(), both = b32();
        text_.line("shr.u32 \t{}, {}, {};", moved, flag->second, s);
        text_.line("or.b32 \t{}, {}, {};", both, any, moved);
        any = both;
      }
    const std::string bit = b32(), placed = b32(), more = b32();
    std::string& all = needed[cell / word];
    text_.line("and.b32 \t{}, {}, 1;", bit, any);
    text_.line("shl.b32 \t{}, {}, {};", placed, bit, cell % word);
    text_.line("or.b32 \t{}, {}, {};", more, all, placed);
    all = more;
  }
  return needed;
}

// Margins count as places that do not store.
void StepWriter::clear_tiles() {
  const unsigned words = (at_.tile_places * plan_.arrays[0].bytes + 3) / 4;
  const std::string base = b32(), at = b32();
  text_.line("mov.u32 \t{}, {};", base, tile_name);
  text_.line("mad.lo.u32 \t{}, {}, 4, {};", at, thread_, base);
  for (unsigned first = 0; first < words; first += at_.block()) {
    std::string guard;
    if (first + at_.block() > words) {
      guard = predicate();
      text_.line("setp.lt.u32 \t{}, {}, {};", guard, thread_, words - first);
    }
    text_.line("{}st.shared.u32 \t[{}+{}], 0;", guarded(guard), at, first * 4);
  }
}

} // namespace ptxasw::passes
