// See steps_stream.hpp.
#include "rewrite/steps_stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

namespace ptxasw::rewrite {

using reuse::Offset;
using reuse::StepArray;

namespace {

constexpr unsigned lanes = 32;
constexpr unsigned least_centre = 8; // places

unsigned rounded(unsigned n, unsigned to) {
  return (n + to - 1) / to * to;
}

// Of the column of a warp, counted from the thread's first: whose it is.
int thread_of(int column, unsigned columns) {
  const int wide = static_cast<int>(columns);
  return (column - (column % wide + wide) % wide) / wide;
}

} // namespace

StreamWriter::StreamWriter(const emulator::Kernel& kernel, const reuse::StepPlan& plan,
                           const StepShape& shape, std::string name)
    : StepBase(kernel, plan, shape, std::move(name)) {
  axes_ = find_step_axes(plan, shape, entry_.refused);
  if (!entry_.refused.empty()) return;
  if (axes_.v > 2) {
    entry_.refused = "there are no rows to stream along";
    return;
  }
  const auto far = [](int offset) { return static_cast<unsigned>(std::max(0, offset)); };
  const unsigned before = far(-plan.least[axes_.u]), behind = far(plan.most[axes_.u]);
  halo_ = {rounded(shape.count * before, columns()), rounded(shape.count * behind, columns())};
  reach_ = std::max(far(-plan.least[axes_.v]), far(plan.most[axes_.v]));
  ring_ = 2 * reach_ + 1;
  // Who reads from a place is as far from it, on the other side.
  lanes_before_ = lanes_behind_ = rounded(std::max(before, behind), columns()) / columns();
  if (halo_.both() + least_centre > width()) entry_.refused = "so many steps reach beyond a region";
}

StepEntry StreamWriter::run() {
  if (!entry_.refused.empty()) return std::move(entry_);
  prologue();
  write_path(true);
  text_.label(labels_ + "rim");
  write_path(false);
  std::array<unsigned, 3> covers{1, 1, 1};
  covers[axes_.u] = shape_.strips * centre();
  covers[axes_.v] = shape_.rows;
  finish(shape_.strips * lanes, covers, "");
  return std::move(entry_);
}

unsigned StreamWriter::slot(int row) const {
  const int ring = static_cast<int>(ring_);
  return static_cast<unsigned>((row % ring + ring) % ring);
}

unsigned StreamWriter::array_of(const StepArray& array) const {
  return static_cast<unsigned>(&array - plan_.arrays.data());
}

StreamWriter::Row& StreamWriter::row_of(unsigned n, int level, int row) {
  Row& found = images_[{n, level, slot(row)}];
  while (found.size() < columns())
    found.push_back(registers_.make(fmt::format("b{}", held_bits(plan_.arrays[n]))));
  return found;
}

std::string& StreamWriter::halo_of(unsigned n, int level, int row, int column) {
  std::string& found = halos_[{n, level, slot(row), column}];
  if (found.empty()) found = registers_.make(fmt::format("b{}", held_bits(plan_.arrays[n])));
  return found;
}

// --- Where threads are --------------------------------------------------------------------------

void StreamWriter::prologue() {
  text_.line("// ptxasw: {} steps at once, row by row", shape_.count);
  body_.parameters();
  const std::string thread = b32(), warp = b32(), mine = b32();
  lane_ = b32();
  text_.line("mov.u32 \t{}, %tid.x;", thread);
  text_.line("and.b32 \t{}, {}, {};", lane_, thread, lanes - 1);
  text_.line("shr.u32 \t{}, {}, 5;", warp, thread);
  text_.line("mul.lo.u32 \t{}, {}, {};", mine, lane_, columns());
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (plan_.places[axis] == reuse::Place::none) continue;
    const std::string block = b32();
    limit_[axis] = b32();
    text_.line("mov.u32 \t{}, %ctaid.{};", block, "xyz"[axis]);
    text_.line("ld.param.u32 \t{}, [{}+{}];", limit_[axis], threads_parameter, 4 * axis);
    if (axis == axes_.u) {
      const std::string region = b32(), first = b32();
      text_.line("mad.lo.u32 \t{}, {}, {}, {};", region, block, shape_.strips, warp);
      text_.line("mul.lo.u32 \t{}, {}, {};", first, region, centre());
      corner_[axis] = plus(first, -static_cast<long>(halo_.before));
      place_[axis] = b32();
      text_.line("add.s32 \t{}, {}, {};", place_[axis], corner_[axis], mine);
    } else if (axis == axes_.v) {
      place_[axis] = block;
      find_rows(axis);
    } else {
      corner_[axis] = place_[axis] = block;
    }
  }
  in_centre_ = predicate();
  text_.line("setp.lt.u32 \t{}, {}, {};", in_centre_, plus(mine, -static_cast<long>(halo_.before)),
             centre());
  if (!plan_.convex) {
    text_.line("bra \t{}rim;", labels_);
    return;
  }
  // The corners tell of all places that are computed. Level 1 begins above the first row, the
  // others in a later round: no earlier than in row -2r + r*t of the region.
  StepBody::Place first = corner_, last = corner_;
  first[axes_.v] = plus(corner_[axes_.v], -far_rows(1));
  last[axes_.u] = plus(corner_[axes_.u], width() - 1);
  const std::string behind = b32();
  text_.line("add.s32 \t{}, {}, {};", behind, corner_[axes_.v], count_);
  last[axes_.v] = plus(behind, -1);
  const std::string first_in = inside(first), last_in = inside(last), both = predicate();
  text_.line("and.pred \t{}, {}, {};", both, first_in, last_in);
  text_.line("@!{} bra \t{}rim;", both, labels_);
}

// A block's share of the rows is what the grid makes of it. Rows are taken in by whole rounds.
void StreamWriter::find_rows(unsigned axis) {
  const std::string blocks = b32(), more = b32(), first = b32(), taken = b32(), rounds = b32();
  rows_ = b32();
  count_ = b32();
  text_.line("mov.u32 \t{}, %nctaid.{};", blocks, "xyz"[axis]);
  text_.line("add.u32 \t{}, {}, {};", more, limit_[axis], blocks);
  text_.line("div.u32 \t{}, {}, {};", rows_, plus(more, -1), blocks);
  text_.line("mul.lo.u32 \t{}, {}, {};", first, place_[axis], rows_);
  corner_[axis] = plus(first, -far_rows(shape_.count));
  text_.line("add.u32 \t{}, {}, {};", taken, rows_,
             2 * far_rows(shape_.count) + static_cast<int>(ring_) - 1);
  text_.line("div.u32 \t{}, {}, {};", rounds, taken, ring_);
  text_.line("mul.lo.u32 \t{}, {}, {};", count_, rounds, ring_);
}

StepBody::Place StreamWriter::place_of(unsigned column, const std::string& row) {
  StepBody::Place place = place_;
  place[axes_.u] = plus(place_[axes_.u], column);
  place[axes_.v] = row;
  return place;
}

// --- A path -------------------------------------------------------------------------------------

void StreamWriter::write_path(bool inner) {
  inner_ = inner;
  start();
  unsigned first = 0;
  // Until the levels have begun, there is nothing to compute for those that have not.
  for (unsigned taken = ring_; inner && reach_ != 0; taken += ring_, ++first) {
    const unsigned levels = (taken - 1) / (2 * reach_);
    if (levels >= shape_.count) break;
    round(levels);
  }
  const std::string loop = fmt::format("{}{}", labels_, inner ? "rows" : "rim_rows");
  const std::string again = predicate();
  text_.label(loop);
  round(shape_.count);
  text_.line("setp.lt.u32 \t{}, {}, {};", again, taken_, count_);
  text_.line("@{} bra \t{};", again, loop);
  text_.line("ret;");
}

void StreamWriter::start() {
  if (body_.has_uniform_loads()) body_.uniform_loads(inner_ ? "" : any_inside());
  row_ = b32();
  taken_ = b32();
  text_.line("mov.u32 \t{}, {};", row_, corner_[axes_.v]);
  text_.line("mov.u32 \t{}, 0;", taken_);
  for (auto* by_array : {&in_, &out_, &out_of_, &stride_, &in_aligned_, &out_aligned_})
    by_array->clear();
  ahead_.clear();
  StepBody::Place first = place_, last_level = place_;
  first[axes_.v] = corner_[axes_.v];
  last_level[axes_.v] = plus(corner_[axes_.v], -far_rows(shape_.count));
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const StepArray& array = plan_.arrays[n];
    const unsigned bytes = vector_of(array.bytes) * array.bytes;
    stride_.push_back(number(array.element.along(axes_.v)));
    const std::string at = element(n, first), out = begin_of(array.out);
    in_.push_back(added(begin_of(array.in), at));
    out_of_.push_back(added(out, at));
    out_.push_back(added(out, element(n, last_level)));
    in_aligned_.push_back(is_aligned(in_[n], stride_[n], bytes));
    out_aligned_.push_back(is_aligned(out_[n], stride_[n], bytes));
    for (unsigned row = 0; row < ahead(); ++row)
      for (unsigned column = 0; column < columns(); ++column)
        ahead_[{n, row}].push_back(registers_.make(fmt::format("b{}", held_bits(array))));
  }
  words_.clear();
  for (unsigned row = 0; inner_ && row < ahead(); ++row)
    load_ahead(row, "");
  if (inner_) return;
  for (unsigned n = 0; n < ring_; ++n)
    words_.push_back(b32());
  for (int row = -far_rows(1); row < far_rows(1); ++row)
    text_.line("mov.b32 \t{}, {};", words_[slot(row)], inside_word(plus(corner_[axes_.v], row)));
}

// As many rows as a level holds: each has its registers again.
void StreamWriter::round(unsigned levels) {
  for (unsigned k = 0; k < ring_; ++k) {
    take_row(k);
    for (unsigned level = 1; level <= levels; ++level)
      step(k, level);
    if (levels < shape_.count) pass_halos(k, levels + 1); // a later round goes on from here
    next_row();
  }
}

void StreamWriter::next_row() {
  text_.line("add.s32 \t{}, {}, 1;", row_, row_);
  text_.line("add.s32 \t{}, {}, 1;", taken_, taken_);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    text_.line("add.s64 \t{}, {}, {};", out_[n], out_[n], stride_[n]);
    if (inner_) continue;
    text_.line("add.s64 \t{}, {}, {};", in_[n], in_[n], stride_[n]);
    text_.line("add.s64 \t{}, {}, {};", out_of_[n], out_of_[n], stride_[n]);
  }
}

void StreamWriter::take_row(unsigned k) {
  if (!inner_) return load_needed(k);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    for (unsigned column = 0; column < columns(); ++column)
      text_.line("mov.b{} \t{}, {};", held_bits(plan_.arrays[n]),
                 row_of(n, 0, static_cast<int>(k))[column], ahead_[{n, k % ahead()}][column]);
  const std::string next = b32(), more = predicate();
  text_.line("add.s32 \t{}, {}, {};", next, taken_, ahead());
  text_.line("setp.lt.u32 \t{}, {}, {};", more, next, count_);
  load_ahead(k % ahead(), more);
}

// The next row of `in` that is not on its way yet, under `guard` (empty: always).
void StreamWriter::load_ahead(unsigned number, const std::string& guard) {
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const unsigned bytes = plan_.arrays[n].bytes, vector = vector_of(bytes);
    const Row& into = ahead_[{n, number}];
    std::string together = in_aligned_[n], alone = guard;
    if (vector > 1) {
      alone = predicate();
      text_.line("not.pred \t{}, {};", alone, together);
      if (!guard.empty())
        for (std::string* one : {&together, &alone}) {
          const std::string both = predicate();
          text_.line("and.pred \t{}, {}, {};", both, *one, guard);
          *one = both;
        }
    }
    for (unsigned column = 0; column < columns(); ++column) {
      if (vector > 1 && column % vector == 0)
        text_.line("@{} ld.global.v{}.b{} \t{{{}}}, [{}+{}];", together, vector, bytes * 8,
                   fmt::join(std::span(into).subspan(column, vector), ", "), in_[n],
                   column * bytes);
      text_.line("{}ld.global.b{} \t{}, [{}+{}];", alone.empty() ? "" : fmt::format("@{} ", alone),
                 bytes * 8, into[column], in_[n], column * bytes);
    }
    text_.line("add.s64 \t{}, {}, {};", in_[n], in_[n], stride_[n]);
  }
}

// --- Steps --------------------------------------------------------------------------------------

void StreamWriter::step(unsigned k, unsigned level) {
  const int row = static_cast<int>(k) - far_rows(level), before = static_cast<int>(level) - 1;
  const bool last = level == shape_.count;
  pass_halos(k, level);
  const std::string at = plus(row_, -far_rows(level));
  std::vector<Row> results(plan_.arrays.size());
  Row guards;
  for (unsigned column = 0; column < columns(); ++column) {
    const auto on_chip = [&](const StepArray& array, const Offset& offset) {
      const int from = static_cast<int>(column) + offset[axes_.u];
      const int from_row = row + offset[axes_.v];
      const unsigned n = array_of(array);
      if (from >= 0 && from < static_cast<int>(columns()))
        return row_of(n, before, from_row)[static_cast<unsigned>(from)];
      return halo_of(n, before, from_row, from);
    };
    const StepBody::Place place = place_of(column, at);
    const std::string guard = inner_ ? "" : inside(place);
    guards.push_back(guard);
    const auto values = body_.values(place, on_chip, guard);
    for (unsigned n = 0; n < values.size(); ++n) {
      const StepArray& array = plan_.arrays[n];
      if (last) {
        results[n].push_back(registers_.make(fmt::format("b{}", held_bits(array))));
        text_.line("mov.{} \t{}, {};", move_type(array), results[n].back(), values[n]);
        continue;
      }
      const std::string& into = row_of(n, static_cast<int>(level), row)[column];
      if (!inner_) // the buffer that this step writes to is the one that the last but one wrote to
        text_.line("mov.b{} \t{}, {};", held_bits(array), into,
                   row_of(n, static_cast<int>(level) - 2, row)[column]);
      text_.line("{}mov.{} \t{}, {};", inner_ ? "" : fmt::format("@{} ", guard), move_type(array),
                 into, values[n]);
    }
  }
  for (unsigned n = 0; last && n < plan_.arrays.size(); ++n)
    store(n, results[n], guards);
}

// Others' columns of the rows that no earlier row has asked for.
void StreamWriter::pass_halos(unsigned k, unsigned level) {
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    pass_halos(n, k, level);
}

void StreamWriter::pass_halos(unsigned n, unsigned k, unsigned level) {
  const int before = static_cast<int>(level) - 1;
  std::map<int, int> newest; // by column: the row
  for (const StepArray::Load& load : plan_.arrays[n].loads)
    for (int column = 0; column < static_cast<int>(columns()); ++column) {
      const int from = column + load.offset[axes_.u], row = load.offset[axes_.v];
      if (from >= 0 && from < static_cast<int>(columns())) continue;
      const auto [known, missing] = newest.try_emplace(from, row);
      if (!missing) known->second = std::max(known->second, row);
    }
  for (const auto& [from, offset] : newest) {
    const int row = static_cast<int>(k) - far_rows(level) + offset,
              away = thread_of(from, columns());
    const auto plane = static_cast<unsigned>(from - away * static_cast<int>(columns()));
    const unsigned bits = held_bits(plan_.arrays[n]);
    text_.line("mov.b{} \t{}, {};", bits, halo_of(n, before, row, from),
               shuffled(row_of(n, before, row)[plane], bits, away));
  }
}

// What a lane so far to the right has; at the warp's edge anything.
std::string StreamWriter::shuffled(const std::string& value, unsigned bits, int away) {
  const auto word = [&](const std::string& from) {
    std::string into = b32();
    text_.line("shfl.sync.{}.b32 \t{}, {}, {}, {}, -1;", away < 0 ? "up" : "down", into, from,
               std::abs(away), away < 0 ? 0 : 31);
    return into;
  };
  if (bits == 32) return word(value);
  std::string into = registers_.make(fmt::format("b{}", bits));
  if (bits == 64) {
    const std::string low = b32(), high = b32();
    text_.line("mov.b64 \t{{{}, {}}}, {};", low, high, value);
    const std::string other_low = word(low), other_high = word(high);
    text_.line("mov.b64 \t{}, {{{}, {}}};", into, other_low, other_high);
  } else {
    const std::string wide = b32();
    text_.line("cvt.u32.u16 \t{}, {};", wide, value);
    text_.line("cvt.u16.u32 \t{}, {};", into, word(wide));
  }
  return into;
}

// The last level's row, if it is of the centre.
void StreamWriter::store(unsigned n, const Row& values, const Row& inside) {
  const unsigned bytes = plan_.arrays[n].bytes;
  const unsigned vector = inner_ ? vector_of(bytes) : 1;
  const std::string guard = predicate();
  text_.line("setp.lt.and.u32 \t{}, {}, {}, {};", guard, plus(taken_, -2L * far_rows(shape_.count)),
             rows_, in_centre_);
  std::string together, alone = guard;
  if (vector > 1) {
    const std::string apart = predicate();
    together = predicate();
    alone = predicate();
    text_.line("not.pred \t{}, {};", apart, out_aligned_[n]);
    text_.line("and.pred \t{}, {}, {};", together, guard, out_aligned_[n]);
    text_.line("and.pred \t{}, {}, {};", alone, guard, apart);
  }
  for (unsigned column = 0; column < columns(); ++column) {
    if (vector > 1 && column % vector == 0)
      text_.line("@{} st.global.v{}.b{} \t[{}+{}], {{{}}};", together, vector, bytes * 8, out_[n],
                 column * bytes, fmt::join(std::span(values).subspan(column, vector), ", "));
    std::string one = alone;
    if (!inner_) {
      one = predicate();
      text_.line("and.pred \t{}, {}, {};", one, inside[column], guard);
    }
    text_.line("@{} st.global.b{} \t[{}+{}], {};", one, bytes * 8, out_[n], column * bytes,
               values[column]);
  }
}

// --- Along rims ---------------------------------------------------------------------------------

// Bits for the columns of a row that store: this thread's, and those of the lanes beside it.
std::string StreamWriter::inside_word(const std::string& row) {
  std::string own = b32();
  text_.line("mov.u32 \t{}, 0;", own);
  for (unsigned column = 0; column < columns(); ++column) {
    const std::string in = inside(place_of(column, row)), bit = b32(), more = b32();
    text_.line("selp.b32 \t{}, {}, 0, {};", bit, 1U << column, in);
    text_.line("or.b32 \t{}, {}, {};", more, own, bit);
    own = more;
  }
  std::string all = b32();
  text_.line("shl.b32 \t{}, {}, {};", all, own, lanes_before_ * columns());
  for (int away = -static_cast<int>(lanes_before_); away <= static_cast<int>(lanes_behind_);
       ++away) {
    if (away == 0) continue;
    const std::string other = b32(), is_there = predicate(), there = b32(), placed = b32();
    text_.line("shfl.sync.{}.b32 \t{}|{}, {}, {}, {}, -1;", away < 0 ? "up" : "down", other,
               is_there, own, std::abs(away), away < 0 ? 0 : 31);
    text_.line("selp.b32 \t{}, {}, 0, {};", there, other, is_there);
    text_.line("shl.b32 \t{}, {}, {};", placed, there,
               static_cast<unsigned>(away + static_cast<int>(lanes_before_)) * columns());
    const std::string more = b32();
    text_.line("or.b32 \t{}, {}, {};", more, all, placed);
    all = more;
  }
  return all;
}

std::string StreamWriter::bit_of(const std::string& word, unsigned bit) {
  const std::string one = b32();
  std::string is = predicate();
  text_.line("and.b32 \t{}, {}, {};", one, word, 1U << bit);
  text_.line("setp.ne.u32 \t{}, {}, 0;", is, one);
  return is;
}

// The elements of `in` that some place of the region, or above it, reads as it stores; and those of
// `out` that are read in the second step and that nobody writes in the first.
void StreamWriter::load_needed(unsigned k) {
  const int here = static_cast<int>(k);
  text_.line("mov.b32 \t{}, {};", words_[slot(here + far_rows(1))],
             inside_word(plus(row_, far_rows(1))));
  const unsigned own = lanes_before_ * columns();
  const std::string mine = b32(), others = b32();
  text_.line("shr.u32 \t{}, {}, {};", mine, words_[slot(here)], own);
  text_.line("not.b32 \t{}, {};", others, mine);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    std::set<std::pair<int, int>> offsets;
    for (const StepArray::Load& load : plan_.arrays[n].loads)
      offsets.emplace(load.offset[axes_.u], load.offset[axes_.v]);
    std::string needed = b32();
    text_.line("mov.u32 \t{}, 0;", needed);
    for (const auto& [along, rows] : offsets) {
      const std::string moved = b32(), more = b32();
      text_.line("shr.u32 \t{}, {}, {};", moved, words_[slot(here - rows)],
                 static_cast<int>(own) - along);
      text_.line("or.b32 \t{}, {}, {};", more, needed, moved);
      needed = more;
    }
    const std::string kept = b32();
    text_.line("and.b32 \t{}, {}, {};", kept, needed, others);
    const unsigned bytes = plan_.arrays[n].bytes;
    for (unsigned column = 0; column < columns(); ++column) {
      text_.line("@{} ld.global.b{} \t{}, [{}+{}];", bit_of(needed, column), bytes * 8,
                 row_of(n, 0, here)[column], in_[n], column * bytes);
      text_.line("@{} ld.global.b{} \t{}, [{}+{}];", bit_of(kept, column), bytes * 8,
                 row_of(n, -1, here)[column], out_of_[n], column * bytes);
    }
  }
}

// This thread has a place that stores.
std::string StreamWriter::any_inside() {
  const std::string row = b32(), last = b32(), loop = labels_ + "rim_any", again = predicate();
  std::string any = predicate();
  text_.line("add.s32 \t{}, {}, {};", row, corner_[axes_.v], -far_rows(shape_.count));
  text_.line("add.s32 \t{}, {}, {};", last, corner_[axes_.v], count_);
  text_.line("setp.ne.u32 \t{}, {}, {};", any, row, row);
  text_.label(loop);
  for (unsigned column = 0; column < columns(); ++column)
    text_.line("or.pred \t{}, {}, {};", any, any, inside(place_of(column, row)));
  text_.line("add.s32 \t{}, {}, 1;", row, row);
  text_.line("setp.lt.s32 \t{}, {}, {};", again, row, last);
  text_.line("@{} bra \t{};", again, loop);
  return any;
}

} // namespace ptxasw::rewrite
