// The images of a region: how they are loaded, stepped and stored.
#include "passes/time_tile/emit/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace ptxasw::passes {

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

void StepWriter::make_images() {
  read_.clear();
  write_.clear();
  for (const StepArray& array : plan_.arrays)
    for (Image* image : {&read_, &write_}) {
      Column& column = image->emplace_back();
      for (unsigned cell = 0; cell < at_.places(); ++cell)
        column.push_back(code_.make(ptx::bits(held_bits(array))));
    }
}

void StepWriter::load_inside() {
  inner_ = true;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    load(n, in_[n], read_[n]);
}

void StepWriter::load_with_rim() {
  inner_ = false;
  find_wrapped();
  const std::vector<Mask> needed = find_halo();
  load_needed(needed);
}

void StepWriter::load_needed(const std::vector<Mask>& needed) {
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    if (plan_.rotation)
      load_older(n, needed[n]);
    else
      load(n, in_[n], read_[n], needed[n]);
}

void StepWriter::write_path(bool inner) {
  make_images();
  if (inner)
    load_inside();
  else
    load_with_rim();
  if (body_.has_uniform_loads()) body_.uniform_loads(inner ? Reg{} : any_of(mask_));
  loop(inner ? Regions::inside : Regions::with_rim);
  store_centre();
  code_.ret();
}

// What a step computes of a place hangs on nothing but the offsets: the same in all regions.
bool StepWriter::steps_alike() const {
  return plan_.convex && body_.same_everywhere() &&
         std::ranges::none_of(plan_.periods,
                              [](const auto& period) { return period.has_value(); }) &&
         std::ranges::all_of(plan_.arrays, [](const StepArray& array) {
           return std::ranges::all_of(array.loads, [](const StepArray::Load& load) {
             return load.cases.size() == 1 && load.where.empty() && !load.late;
           });
         });
}

// One loop for regions with a rim and for those without, of which all places store and none keeps
// an element; these are loaded and stored in vectors.
void StepWriter::write_one_path() {
  make_images();
  load_inside();
  Mask stores;
  for (unsigned cell = 0; cell < at_.places(); cell += word)
    stores.push_back(code_.mov(u32, full_word(cell)));
  code_.bra(labels_ + "loaded");
  code_.label(labels_ + "rim");
  inner_ = false;
  find_wrapped();
  std::vector<Mask> first = find_halo();
  for (unsigned i = 0; i < stores.size(); ++i)
    code_.move(stores[i], std::exchange(mask_[i], stores[i]));
  if (plan_.rotation) {
    load_needed(first);
  } else { // as in the loop, where the second step of a trip loads from the same array
    kept_behind_ = std::exchange(kept_, std::move(first));
    code_.bra(labels_ + "first");
  }
  code_.label(labels_ + "loaded");
  inner_ = true;
  loop(Regions::any);
  Reg some;
  for (unsigned i = 0; i < mask_.size(); ++i)
    some = code_.setp(ne, u32, mask_[i], full_word(i * word), or_, some);
  code_.when(some).bra(labels_ + "some");
  store_centre();
  code_.ret();
  code_.label(labels_ + "some");
  inner_ = false;
  store_centre();
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
  const StepArray& array = plan_.arrays[n];
  const unsigned vector = at_.vector(array), spacing = at_.spacing(array);
  const ptx::Type type = ptx::bits(array.bytes * 8);
  Reg at = first;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    const ptx::Memory from{at, column_of(cell) * spacing};
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

// Two steps a trip, so that no value moves from one image to the other; of an odd number of steps
// the first of the two is the last one. What they wrote last is read_ then.
void StepWriter::loop(Regions regions) {
  const std::string begin = fmt::format("{}steps{}", labels_, static_cast<int>(regions)),
                    end = begin + "_end";
  const unsigned last = shape_.count % 2 == 0 ? 1 : 0;
  const bool keeps = regions != Regions::inside;
  if (has_late_loads()) done_ = code_.mov(u32, 0);
  Column turns; // of three arrays in rotation
  if (keeps && plan_.rotation)
    for (const unsigned turn : {2U, 0U, 1U})
      turns.push_back(code_.mov(b64, turns_[turn]));
  code_.label(begin);
  for (const unsigned half : {0U, 1U}) {
    if (plan_.rotation && keeps)
      step(half, half == 0 ? Column{turns[2], turns[1]} : Column{turns[0], turns[2]});
    else
      step(half, half == 0 ? in_ : out_);
    std::swap(read_, write_);
    if (half == last) {
      code_.into(left_).add(s32, left_, -2);
      code_.when(code_.setp(le, s32, left_, 0)).bra(end);
    }
    const std::string kept = fmt::format("{}_kept{}", begin, half);
    if (regions == Regions::any) code_.when(inside_).bra_uni(kept);
    const bool first = half == 1 && !kept_behind_.empty();
    if (first) code_.label(labels_ + "first");
    if (keeps) load_kept(plan_.rotation ? Column{turns[half], {}} : half == 0 ? out_ : in_);
    if (first) keep_less();
    if (regions == Regions::any) code_.label(kept);
    if (!at_.two_tiles) code_.bar_sync(); // everybody has read
  }
  if (!turns.empty()) {
    const Reg first = code_.mov(b64, turns[2]);
    code_.move(turns[2], turns[1]);
    code_.move(turns[1], turns[0]);
    code_.move(turns[0], first);
  }
  code_.bra(begin);
  code_.label(end);
  if (last == 0) std::swap(read_, write_);
}

// What was needed at first is loaded.
void StepWriter::keep_less() {
  for (std::size_t n = 0; n < kept_.size(); ++n)
    for (std::size_t i = 0; i < kept_[n].size(); ++i)
      code_.move(kept_[n][i], kept_behind_[n][i]);
}

// The second of two begins with the rows that the first one wrote last: what is written there then
// fits into registers that have become free.
void StepWriter::step(unsigned half, const Column& buffers) {
  const unsigned buffer = at_.two_tiles ? half : 0;
  bool any = false;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const std::vector<bool> passed = passed_on(plan_.arrays[n]);
    for (unsigned cell = 0; cell < at_.places(); ++cell) {
      if (!passed[cell]) continue;
      any = true; // in each strip, or in none
      code_.st(
          ptx::Space::shared, ptx::bits(plan_.arrays[n].bytes * 8),
          in_tile(n, buffer, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
          read_[n][cell]);
    }
  }
  if (any) code_.bar_sync();
  if (has_late_loads()) begin_late_step();
  std::vector<std::map<std::pair<int, int>, Reg>> known(plan_.arrays.size());
  for (unsigned at = 0; at < at_.places(); ++at) {
    const unsigned turned = (at_.rows() - 1 - row_of(at)) * at_.columns() + column_of(at),
                   cell = half == 0 ? at : turned;
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
    const bool is_asked = has_late_loads() && (!inner_ || !plan_.late.empty());
    const Reg right = is_asked ? is_right(cell) : Reg{};
    StepBody::Late late;
    if (!right.empty()) late.guard = inner_ ? right : code_.and_(pred, right, guard);
    if (!right.empty() && !inner_)
      late.load = [&](const StepArray& array, const StepArray::Load& load, const Reg& held) {
        const auto n = static_cast<unsigned>(&array - plan_.arrays.data());
        return late_load(n, load, held, cell, right, buffers[n]);
      };
    Column into;
    for (const Column& image : write_)
      into.push_back(image[cell]);
    const StepBody::Place place = body_.values_use_place() ? place_of(cell) : place_;
    const auto results = body_.values(place, on_chip, into, guard, inner_,
                                      fmt::format("{}copy{}", labels_, copies_++), late);
    for (unsigned n = 0; n < results.size(); ++n)
      if (results[n].text() != into[n].name)
        code_.into(into[n]).mov(move_type(kernel_.body, plan_.arrays[n]), results[n]);
  }
}

// Of a row of the thread's own strip, which its warp has.
bool StepWriter::by_lanes(int row) const {
  return shape_.lanes && row >= 0 && row < static_cast<int>(at_.rows());
}

void StepWriter::from_lane(unsigned n, int column, int row, const Reg& into) {
  const auto [far, own] = at_.owner_of(column);
  StepFrame::from_lane(
      read_[n][static_cast<unsigned>(row) * at_.columns() + static_cast<unsigned>(own)],
      plan_.arrays[n].bytes, far, into);
}

// --- Stores -------------------------------------------------------------------------------------

void StepWriter::store_centre() {
  const Reg in_centre = code_.setp(lt, u32, plus(column_, -static_cast<long>(at_.halo_u.before)),
                                   at_.centre(at_.axes.u));
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    Reg at = out_[n];
    for (unsigned row = 0; row < at_.rows(); ++row) {
      if (row != 0) at = added(at, row_stride_[n]);
      store_row(n, row, turned_row(n, row, at), in_centre);
    }
  }
}

void StepWriter::store_row(unsigned n, unsigned row, const Reg& at, const Reg& in_centre) {
  const StepArray& array = plan_.arrays[n];
  const unsigned vector = inner_ ? at_.vector(array) : 1, spacing = at_.spacing(array);
  const ptx::Type type = ptx::bits(array.bytes * 8);
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
      code_.when(together).st(ptx::Space::global, type, {at, column * spacing},
                              std::span(read_[n]).subspan(cell, vector));
    const Reg one =
        inner_ ? alone : code_.and_(pred, bit_of(own_.empty() ? mask_ : own_, cell), guard);
    const Reg first = turned_column(n, column, at);
    code_.when(one).st(ptx::Space::global, type, {first, column * spacing}, read_[n][cell]);
  }
}

} // namespace ptxasw::passes
