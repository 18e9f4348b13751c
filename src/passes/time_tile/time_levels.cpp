// The images of a region: how they are loaded, stepped and stored.
#include "passes/time_tile/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>

namespace ptxasw::passes {

using passes::Offset;
using passes::StepArray;
using ptx::Reg;
using namespace ptx::words;

StepBody::Place StepWriter::place_of(unsigned cell) {
  StepBody::Place place = place_;
  place[at_.axes.u] = coordinate(at_.axes.u, static_cast<int>(column_of(cell)));
  if (at_.has_strips()) place[at_.axes.v] = coordinate(at_.axes.v, static_cast<int>(row_of(cell)));
  return place;
}

std::set<Offset> StepWriter::offsets_of(const StepArray& array) {
  std::set<Offset> offsets;
  for (const StepArray::Load& load : array.loads)
    for (const StepArray::Case& one : load.cases)
      offsets.insert(one.offset);
  return offsets;
}

// Where whole warps have one strip, and steps read beside it.
bool StepWriter::has_edges() const {
  return shape_.edges && !shape_.looped && at_.has_strips() && //
         shape_.strips > 2 && at_.across() % 32 == 0 && at_.halo_v.both() != 0;
}

void StepWriter::write_inner_paths() {
  if (has_edges())
    for (const auto& [number, label] :
         {std::pair{0U, "first_strip"}, {shape_.strips - 1, "last_strip"}}) {
      code_.when(code_.setp(eq, u32, strip_, number)).bra(labels_ + label);
    }
  write_path(true);
  if (!has_edges()) return;
  code_.label(labels_ + "first_strip");
  write_path(true, Strip::first);
  code_.label(labels_ + "last_strip");
  write_path(true, Strip::last);
}

// Each step reads one reach beyond what it makes right. What is not right any more is read for
// nothing that is stored.
StepWriter::Rows StepWriter::right_rows(unsigned steps) const {
  const unsigned rows = at_.rows(), before = at_.halo_v.before / shape_.count * steps,
                 behind = at_.halo_v.behind / shape_.count * steps;
  switch (of_strip_) {
  case Strip::first: return {std::min(rows, before), rows};
  case Strip::last: return {0, rows - std::min(rows, behind)};
  case Strip::any: break;
  }
  return {0, rows};
}

void StepWriter::write_path(bool inner, Strip strip) {
  inner_ = inner;
  of_strip_ = strip;
  read_.clear();
  write_.clear();
  for (const StepArray& array : plan_.arrays)
    for (Image* image : {&read_, &write_}) {
      Column& column = image->emplace_back();
      for (unsigned cell = 0; cell < at_.places(); ++cell)
        column.push_back(code_.make(ptx::bits(held_bits(array))));
    }
  if (!inner) {
    find_serialized_blocks();
    find_wrapped();
    find_halo();
  } else {
    for (unsigned n = 0; n < plan_.arrays.size(); ++n)
      load(n, in_[n], read_[n]);
  }
  if (body_.has_uniform_loads()) body_.uniform_loads(inner ? Reg{} : any_of(mask_));
  if (shape_.looped) {
    loop();
  } else {
    for (unsigned t = 0; t < shape_.count; ++t) {
      if (!at_.two_tiles && t != 0) code_.bar_sync(); // everybody has read
      step(right_rows(t), right_rows(t + 1), at_.two_tiles ? t % 2 : 0);
      if (!inner_ && t + 1 < shape_.count) load_kept(turns_behind(t));
      std::swap(read_, write_);
    }
  }
  store_centre(); // what was written last is read_ now
  code_.ret();
}

// --- Loads --------------------------------------------------------------------------------------

ptx::Memory StepWriter::in_tile(unsigned n, unsigned buffer, int column, int row) const {
  const int bytes = at_.in_tile(column, row) * static_cast<int>(plan_.arrays[n].bytes) +
                    static_cast<int>(buffer * at_.tile_bytes);
  return {mine_[n], bytes};
}

// All of a thread's elements.
void StepWriter::load(unsigned n, const Reg& first, const Column& into) {
  const unsigned bytes = plan_.arrays[n].bytes, vector = at_.vector(bytes);
  const ptx::Type type = ptx::bits(bytes * 8);
  Reg at = first;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    const ptx::Memory from{at, column_of(cell) * bytes};
    if (vector > 1 && column_of(cell) % vector == 0)
      code_.when(in_aligned_[n])
          .ld(ptx::Space::global, type, std::span(into).subspan(cell, vector), from);
    code_.unless(vector > 1 ? in_aligned_[n] : Reg{})
        .into(into[cell])
        .ld(ptx::Space::global, type, from);
  }
}

// --- Steps --------------------------------------------------------------------------------------

std::vector<bool> StepWriter::passed_on(const StepArray& array) const {
  std::vector<bool> passed(at_.places());
  const int columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  const auto owned = [](int at, int of) { return (at % of + of) % of; };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      for (const Offset& offset : offsets_of(array)) {
        const int u = column + offset_u(offset), v = row + offset_v(offset);
        const bool beside = (u < 0 || u >= columns) && !by_lanes(v);
        if (beside || v < 0 || v >= rows)
          passed[static_cast<unsigned>(owned(v, rows) * columns + owned(u, columns))] = true;
      }
  return passed;
}

// One step's code. What changes from step to step is in registers: where a thread's places are in
// the tile, which array's elements are kept.
void StepWriter::loop() {
  const Reg left = code_.mov(u32, shape_.count);
  Column both_tiles;
  std::vector<Column> turns;
  if (!inner_) turns = turns_behind(0);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    if (at_.two_tiles) both_tiles.push_back(code_.mad(u32, mine_[n], 2, at_.tile_bytes));
    if (inner_) continue;
    for (Reg& turning : turns[n])
      turning = code_.mov(b64, turning);
  }
  const std::string begin = fmt::format("{}{}_steps", labels_, inner_ ? "inner" : "rim");
  code_.label(begin);
  step(right_rows(0), right_rows(0), 0);
  if (!inner_) load_kept(turns);
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    for (unsigned cell = 0; cell < at_.places(); ++cell)
      code_.move(read_[n][cell], write_[n][cell]);
    if (at_.two_tiles) code_.into(mine_[n]).sub(s32, both_tiles[n], mine_[n]);
    if (inner_ || turns[n].empty()) continue;
    const Reg kept = code_.mov(b64, turns[n].front());
    for (std::size_t turn = 1; turn < turns[n].size(); ++turn)
      code_.move(turns[n][turn - 1], turns[n][turn]);
    code_.move(turns[n].back(), kept);
  }
  if (!at_.two_tiles) code_.bar_sync(); // everybody has read
  code_.into(left).add(s32, left, -1);
  code_.when(code_.setp(ne, s32, left, 0)).bra(begin);
}

void StepWriter::step(const Rows& was_right, const Rows& is_right, unsigned buffer) {
  const auto among = [&](const Rows& rows, unsigned cell) {
    return row_of(cell) >= rows.begin && row_of(cell) < rows.end;
  };
  bool any = false;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const std::vector<bool> passed = passed_on(plan_.arrays[n]);
    for (unsigned cell = 0; cell < at_.places(); ++cell) {
      if (!passed[cell]) continue;
      any = true; // in each strip, or in none
      if (!among(was_right, cell)) continue;
      code_.st(
          ptx::Space::shared, ptx::bits(plan_.arrays[n].bytes * 8),
          in_tile(n, buffer, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
          read_[n][cell]);
    }
  }
  if (any) code_.bar_sync();
  std::vector<std::map<std::pair<int, int>, Reg>> known(plan_.arrays.size());
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (!among(is_right, cell)) continue;
    const auto element = [&](const StepArray& array, const Offset& offset) {
      const auto n = static_cast<unsigned>(&array - plan_.arrays.data());
      const int column = static_cast<int>(column_of(cell)) + offset_u(offset),
                row = static_cast<int>(row_of(cell)) + offset_v(offset);
      if (column >= 0 && column < static_cast<int>(at_.columns()) && row >= 0 &&
          row < static_cast<int>(at_.rows()))
        return read_[n][static_cast<unsigned>(row) * at_.columns() + static_cast<unsigned>(column)];
      Reg& value = known[n][{column, row}];
      if (!value.empty()) return value;
      value = code_.make(ptx::bits(held_bits(array)));
      if (by_lanes(row))
        from_lane(n, column, row, value);
      else
        code_.into(value).ld(ptx::Space::shared, ptx::bits(array.bytes * 8),
                             in_tile(n, buffer, column, row));
      return value;
    };
    const auto on_chip = [&](const StepArray& array, const StepArray::Load* load) {
      if (load == nullptr) return element(array, {});
      Reg value = element(array, load->offset());
      if (inner_) return value;
      for (const StepArray::Case& other : std::span(load->cases).subspan(1)) {
        const Reg there = element(array, other.offset);
        const Reg here = bit_of(case_mask(other.bounds), cell);
        value = code_.selp(ptx::bits(held_bits(array)), there, value, here);
      }
      return value;
    };
    const Reg guard = inner_ ? Reg{} : bit_of(mask_, cell);
    const auto results = body_.values(place_of(cell), on_chip, guard, inner_,
                                      fmt::format("{}copy{}", labels_, copies_++));
    for (unsigned n = 0; n < results.size(); ++n)
      code_.into(write_[n][cell]).mov(move_type(plan_.arrays[n]), results[n]);
  }
}

// Of a row of the thread's own strip, which its warp has.
bool StepWriter::by_lanes(int row) const {
  return shape_.lanes && row >= 0 && row < static_cast<int>(at_.rows());
}

// Threads at the ends of a row get some value, for a place that is not right.
void StepWriter::from_lane(unsigned n, int column, int row, const Reg& into) {
  const auto [far, own] = at_.owner_of(column);
  const Reg& value =
      read_[n][static_cast<unsigned>(row) * at_.columns() + static_cast<unsigned>(own)];
  const auto pass = [&, lanes = far](const ptx::Emitter& emitter, const Reg& from) {
    return emitter.shfl(lanes < 0 ? ptx::Sub::up : ptx::Sub::down, from, std::abs(lanes),
                        lanes < 0 ? 0 : 31, -1);
  };
  if (plan_.arrays[n].bytes == 4) {
    pass(code_.into(into), value);
    return;
  }
  const Reg low = code_.make(b32), high = code_.make(b32);
  code_.unpack(b64, low, high, value);
  const Reg low_there = pass(code_, low), high_there = pass(code_, high);
  code_.into(into).pack(b64, low_there, high_there);
}

ptx::Type StepWriter::move_type(const StepArray& array) const {
  if (array.carried || array.stores.size() > 1) return ptx::bits(held_bits(array));
  const ptx::Inst& store = kernel_.body.insts[array.stores[0]];
  const bool literal = kernel_.body.src(store)[0].kind == ptx::Arg::Kind::imm;
  return literal && array.bytes > 1 ? store.mods.type : ptx::bits(held_bits(array));
}

// --- Stores -------------------------------------------------------------------------------------

void StepWriter::store_centre() {
  const Reg in_centre = code_.setp(lt, u32, plus(column_, -static_cast<long>(at_.halo_u.before)),
                                   at_.centre(at_.axes.u));
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    Reg at = out_[n];
    for (unsigned row = 0; row < at_.rows(); ++row) {
      if (row != 0) at = added(at, row_stride_[n]);
      const Rows right = right_rows(shape_.count);
      if (row >= right.begin && row < right.end)
        store_row(n, row, turned_row(n, row, at), in_centre);
    }
  }
}

void StepWriter::store_row(unsigned n, unsigned row, const Reg& at, const Reg& in_centre) {
  const unsigned bytes = plan_.arrays[n].bytes, vector = inner_ ? at_.vector(bytes) : 1;
  const ptx::Type type = ptx::bits(bytes * 8);
  Reg guard = in_centre;
  if (at_.halo_v.both() != 0)
    guard = code_.setp(
        lt, u32, plus(first_row_, static_cast<long>(row) - static_cast<long>(at_.halo_v.before)),
        at_.centre(at_.axes.v), and_, in_centre);
  Reg together, alone = guard;
  if (vector > 1) {
    const Reg apart = code_.not_(pred, out_aligned_[n]);
    together = code_.and_(pred, guard, out_aligned_[n]);
    alone = code_.and_(pred, guard, apart);
  }
  for (unsigned column = 0; column < at_.columns(); ++column) {
    const unsigned cell = row * at_.columns() + column;
    if (vector > 1 && column % vector == 0)
      code_.when(together).st(ptx::Space::global, type, {at, column * bytes},
                              std::span(read_[n]).subspan(cell, vector));
    const Reg one =
        inner_ ? alone : code_.and_(pred, bit_of(own_.empty() ? mask_ : own_, cell), guard);
    const Reg first = turned_column(n, column, at);
    code_.when(one).st(ptx::Space::global, type, {first, column * bytes}, read_[n][cell]);
  }
}

} // namespace ptxasw::passes
