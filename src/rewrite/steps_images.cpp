// See steps_writer.hpp: the images of a region, how they are loaded, stepped and stored.
#include "rewrite/steps_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace ptxasw::rewrite {

using reuse::Offset;
using reuse::StepArray;

namespace {

constexpr unsigned word = 32; // bits of a mask's

std::string guarded(const std::string& predicate) {
  return predicate.empty() ? "" : fmt::format("@{} ", predicate);
}

} // namespace

StepBody::Place StepWriter::place_of(unsigned cell) {
  StepBody::Place place = place_;
  place[at_.axes.u] = plus(place_[at_.axes.u], column_of(cell));
  if (at_.has_strips()) place[at_.axes.v] = plus(place_[at_.axes.v], row_of(cell));
  return place;
}

// Where whole warps have one strip, and steps read beside it.
bool StepWriter::has_edges() const {
  return shape_.edges && at_.has_strips() && shape_.strips > 2 && at_.across() % 32 == 0 &&
         at_.halo_v.both() != 0;
}

void StepWriter::write_inner_paths() {
  if (has_edges())
    for (const auto& [number, label] :
         {std::pair{0U, "first_strip"}, {shape_.strips - 1, "last_strip"}}) {
      const std::string is = predicate();
      text_.line("setp.eq.u32 \t{}, {}, {};", is, strip_, number);
      text_.line("@{} bra \t{}{};", is, labels_, label);
    }
  write_path(true);
  if (!has_edges()) return;
  text_.label(labels_ + "first_strip");
  write_path(true, Strip::first);
  text_.label(labels_ + "last_strip");
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
        column.push_back(registers_.make(fmt::format("b{}", held_bits(array))));
    }
  mask_ = inner ? Mask() : find_mask();
  load_images();
  if (body_.has_uniform_loads()) body_.uniform_loads(inner ? "" : any_of(mask_));
  for (unsigned t = 0; t < shape_.count; ++t) {
    step(t);
    std::swap(read_, write_);
  }
  store_centre(); // what was written last is read_ now
  text_.line("ret;");
}

// --- Masks --------------------------------------------------------------------------------------

// The places that store.
StepWriter::Mask StepWriter::find_mask() {
  Mask mask;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell % word == 0) {
      mask.push_back(b32());
      text_.line("mov.u32 \t{}, 0;", mask.back());
    }
    const std::string in = inside(place_of(cell)), more = b32(), bit = b32();
    text_.line("selp.b32 \t{}, {}, 0, {};", bit, 1U << cell % word, in);
    text_.line("or.b32 \t{}, {}, {};", more, mask.back(), bit);
    mask.back() = more;
  }
  return mask;
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

// --- Loads --------------------------------------------------------------------------------------

std::string StepWriter::in_tile(unsigned n, unsigned buffer, int column, int row) const {
  const int bytes = at_.in_tile(column, row) * static_cast<int>(plan_.arrays[n].bytes) +
                    static_cast<int>(buffer * at_.tile_bytes);
  return fmt::format("[{}+{}]", mine_[n], bytes);
}

// The elements of `in` that some place of the region reads as it stores, and those of `out` that
// are read in the second step and that nobody writes in the first.
void StepWriter::load_images() {
  if (inner_) {
    for (unsigned n = 0; n < plan_.arrays.size(); ++n)
      load(n, in_[n], read_[n]);
    return;
  }
  clear_tiles();
  barrier();
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    const std::string flag = b32();
    text_.line("shr.u32 \t{}, {}, {};", flag, mask_[cell / word], cell % word);
    text_.line("st.shared.u{} \t{}, {};", flag_bits(),
               in_tile(0, 0, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
               flag);
  }
  barrier();
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    const Mask needed = find_needed(n);
    Mask kept;
    for (unsigned i = 0; i < needed.size(); ++i) {
      const std::string rest = b32();
      kept.push_back(b32());
      text_.line("not.b32 \t{}, {};", rest, mask_[i]);
      text_.line("and.b32 \t{}, {}, {};", kept[i], needed[i], rest);
    }
    load(n, in_[n], read_[n], needed);
    load(n, out_[n], write_[n], kept);
  }
  barrier();
}

// A place of the region that stores reads this element of the array.
StepWriter::Mask StepWriter::find_needed(unsigned n) {
  Mask needed;
  std::map<std::pair<int, int>, std::string> flags;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell % word == 0) {
      needed.push_back(b32());
      text_.line("mov.u32 \t{}, 0;", needed.back());
    }
    std::string any;
    for (const StepArray::Load& load : plan_.arrays[n].loads) {
      const std::pair from{static_cast<int>(column_of(cell)) - offset_u(load.offset),
                           static_cast<int>(row_of(cell)) - offset_v(load.offset)};
      auto [flag, missing] = flags.try_emplace(from);
      if (missing) {
        flag->second = b32();
        text_.line("ld.shared.u{} \t{}, {};", flag_bits(), flag->second,
                   in_tile(0, 0, from.first, from.second));
      }
      if (any.empty()) {
        any = flag->second;
        continue;
      }
      const std::string both = b32();
      text_.line("or.b32 \t{}, {}, {};", both, any, flag->second);
      any = both;
    }
    const std::string bit = b32(), placed = b32(), more = b32();
    text_.line("and.b32 \t{}, {}, 1;", bit, any);
    text_.line("shl.b32 \t{}, {}, {};", placed, bit, cell % word);
    text_.line("or.b32 \t{}, {}, {};", more, needed.back(), placed);
    needed.back() = more;
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

// All of a thread's elements.
void StepWriter::load(unsigned n, const std::string& first, const Column& into) {
  const unsigned bytes = plan_.arrays[n].bytes, vector = at_.vector(bytes);
  std::string at = first;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    if (vector > 1 && column_of(cell) % vector == 0)
      text_.line("@{} ld.global.v{}.b{} \t{{{}}}, [{}+{}];", in_aligned_[n], vector, bytes * 8,
                 fmt::join(std::span(into).subspan(cell, vector), ", "), at,
                 column_of(cell) * bytes);
    text_.line("{}ld.global.b{} \t{}, [{}+{}];",
               vector > 1 ? fmt::format("@!{} ", in_aligned_[n]) : "", bytes * 8, into[cell], at,
               column_of(cell) * bytes);
  }
}

void StepWriter::load(unsigned n, const std::string& first, const Column& into, const Mask& mask) {
  const unsigned bytes = plan_.arrays[n].bytes;
  std::string at = first;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    text_.line("@{} ld.global.b{} \t{}, [{}+{}];", bit_of(mask, cell), bytes * 8, into[cell], at,
               column_of(cell) * bytes);
  }
}

// --- Steps --------------------------------------------------------------------------------------

std::vector<bool> StepWriter::passed_on(const StepArray& array) const {
  std::vector<bool> passed(at_.places());
  const int columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  const auto owned = [](int at, int of) { return (at % of + of) % of; };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column)
      for (const StepArray::Load& load : array.loads) {
        const int u = column + offset_u(load.offset), v = row + offset_v(load.offset);
        if (u < 0 || u >= columns || v < 0 || v >= rows)
          passed[static_cast<unsigned>(owned(v, rows) * columns + owned(u, columns))] = true;
      }
  return passed;
}

void StepWriter::step(unsigned t) {
  const unsigned buffer = at_.two_tiles ? t % 2 : 0;
  if (!at_.two_tiles && t != 0) barrier(); // everybody has read
  const Rows was_right = right_rows(t), is_right = right_rows(t + 1);
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
      text_.line(
          "st.shared.b{} \t{}, {};", plan_.arrays[n].bytes * 8,
          in_tile(n, buffer, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
          read_[n][cell]);
    }
  }
  if (any) barrier();
  std::vector<std::map<std::pair<int, int>, std::string>> known(plan_.arrays.size());
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (!among(is_right, cell)) continue;
    const auto on_chip = [&](const StepArray& array, const Offset& offset) {
      const auto n = static_cast<unsigned>(&array - plan_.arrays.data());
      const int column = static_cast<int>(column_of(cell)) + offset_u(offset),
                row = static_cast<int>(row_of(cell)) + offset_v(offset);
      if (column >= 0 && column < static_cast<int>(at_.columns()) && row >= 0 &&
          row < static_cast<int>(at_.rows()))
        return read_[n][static_cast<unsigned>(row) * at_.columns() + static_cast<unsigned>(column)];
      std::string& value = known[n][{column, row}];
      if (value.empty()) {
        value = registers_.make(fmt::format("b{}", held_bits(array)));
        text_.line("ld.shared.b{} \t{}, {};", array.bytes * 8, value,
                   in_tile(n, buffer, column, row));
      }
      return value;
    };
    const std::string guard = inner_ ? "" : bit_of(mask_, cell);
    const auto results = body_.values(place_of(cell), on_chip, guard);
    for (unsigned n = 0; n < results.size(); ++n)
      text_.line("{}mov.{} \t{}, {};", guarded(guard), move_type(plan_.arrays[n]), write_[n][cell],
                 results[n]);
  }
}

std::string StepWriter::move_type(const StepArray& array) const {
  const ptx::Inst& store = kernel_.body.insts[array.store];
  const bool literal = kernel_.body.src(store)[0].kind == ptx::Arg::Kind::imm;
  return literal && array.bytes > 1 ? std::string(ptx::name(store.mods.type))
                                    : fmt::format("b{}", held_bits(array));
}

// --- Stores -------------------------------------------------------------------------------------

void StepWriter::store_centre() {
  const std::string in_centre = predicate();
  text_.line("setp.lt.u32 \t{}, {}, {};", in_centre,
             plus(column_, -static_cast<long>(at_.halo_u.before)), at_.centre(at_.axes.u));
  for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
    std::string at = out_[n];
    for (unsigned row = 0; row < at_.rows(); ++row) {
      if (row != 0) at = added(at, row_stride_[n]);
      const Rows right = right_rows(shape_.count);
      if (row >= right.begin && row < right.end) store_row(n, row, at, in_centre);
    }
  }
}

void StepWriter::store_row(unsigned n, unsigned row, const std::string& at,
                           const std::string& in_centre) {
  const unsigned bytes = plan_.arrays[n].bytes, vector = inner_ ? at_.vector(bytes) : 1;
  std::string guard = in_centre;
  if (at_.halo_v.both() != 0) {
    guard = predicate();
    text_.line("setp.lt.and.u32 \t{}, {}, {}, {};", guard,
               plus(first_row_, static_cast<long>(row) - static_cast<long>(at_.halo_v.before)),
               at_.centre(at_.axes.v), in_centre);
  }
  std::string together, alone = guard;
  if (vector > 1) {
    const std::string apart = predicate();
    together = predicate();
    alone = predicate();
    text_.line("not.pred \t{}, {};", apart, out_aligned_[n]);
    text_.line("and.pred \t{}, {}, {};", together, guard, out_aligned_[n]);
    text_.line("and.pred \t{}, {}, {};", alone, guard, apart);
  }
  for (unsigned column = 0; column < at_.columns(); ++column) {
    const unsigned cell = row * at_.columns() + column;
    if (vector > 1 && column % vector == 0)
      text_.line("@{} st.global.v{}.b{} \t[{}+{}], {{{}}};", together, vector, bytes * 8, at,
                 column * bytes, fmt::join(std::span(read_[n]).subspan(cell, vector), ", "));
    std::string one = alone;
    if (!inner_) {
      const std::string stores = bit_of(mask_, cell);
      one = predicate();
      text_.line("and.pred \t{}, {}, {};", one, stores, guard);
    }
    text_.line("@{} st.global.b{} \t[{}+{}], {};", one, bytes * 8, at, column * bytes,
               read_[n][cell]);
  }
}

} // namespace ptxasw::rewrite
