// Regions with a rim, where some places are not stored to (StepWriter).
#include "passes/time_tile/writer.hpp"

#include <fmt/format.h>

#include <map>
#include <span>
#include <utility>

namespace ptxasw::passes {

using passes::StepArray;

namespace {

constexpr unsigned word = 32; // bits of a mask's

std::string guarded(const std::string& predicate) {
  return predicate.empty() ? "" : fmt::format("@{} ", predicate);
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
  std::string at = first;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_[n]);
    text_.line("@{} ld.global.b{} \t{}, [{}+{}];", bit_of(mask, cell), bytes * 8, into[cell], at,
               column_of(cell) * bytes);
  }
}

// A place stores if its column does and its row does: words with a bit for each column, rows as
// predicates.
std::vector<StepWriter::Mask> StepWriter::find_stretches() {
  const auto columns = static_cast<int>(at_.columns()), rows = static_cast<int>(at_.rows());
  const int first_u = -plan_.most[at_.axes.u],
            first_v = at_.has_strips() ? -plan_.most[at_.axes.v] : 0;
  const int last_v = at_.has_strips() ? rows - plan_.least[at_.axes.v] : 1;
  std::string in_column = b32();
  text_.line("mov.u32 \t{}, 0;", in_column);
  for (int u = first_u; u < columns - plan_.least[at_.axes.u]; ++u) {
    StepBody::Place place = place_;
    place[at_.axes.u] = plus(place_[at_.axes.u], u);
    add_bits(in_column, fmt::to_string(1U << (u - first_u)), inside(place, true));
  }
  std::map<int, std::string> in_row;
  for (int v = first_v; v < last_v; ++v) {
    StepBody::Place place = place_;
    if (at_.has_strips()) place[at_.axes.v] = plus(place_[at_.axes.v], v);
    in_row[v] = inside(place, false);
  }
  // Columns of a row that have a place so far from them.
  const auto columns_at = [&](int u) {
    const std::string moved = b32();
    std::string some = b32();
    text_.line("shr.u32 \t{}, {}, {};", moved, in_column, u - first_u);
    text_.line("and.b32 \t{}, {}, {};", some, moved, (std::uint64_t{1} << columns) - 1);
    return some;
  };
  const auto add_row = [&](Mask& mask, int row, const std::string& bits, const std::string& in) {
    const int first = row * columns;
    const std::string moved = b32();
    text_.line("shl.b32 \t{}, {}, {};", moved, bits, first % static_cast<int>(word));
    add_bits(mask[static_cast<unsigned>(first) / word], moved, in);
  };
  const auto none = [&] {
    Mask mask;
    for (unsigned cell = 0; cell < at_.places(); cell += word) {
      mask.push_back(b32());
      text_.line("mov.u32 \t{}, 0;", mask.back());
    }
    return mask;
  };
  mask_ = none();
  const std::string own = columns_at(0);
  for (int row = 0; row < rows; ++row)
    add_row(mask_, row, own, in_row[row]);
  std::vector<Mask> needed;
  for (const StepArray& array : plan_.arrays) {
    std::map<int, std::string> readers; // by how far their row is
    for (const StepArray::Load& load : array.loads) {
      const std::string some = columns_at(-offset_u(load.offset));
      auto [found, missing] = readers.try_emplace(-offset_v(load.offset), some);
      if (missing) continue;
      const std::string both = b32();
      text_.line("or.b32 \t{}, {}, {};", both, found->second, some);
      found->second = both;
    }
    Mask& mask = needed.emplace_back(none());
    for (int row = 0; row < rows; ++row)
      for (const auto& [far, some] : readers)
        add_row(mask, row, some, in_row[row + far]);
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

// Places tell each other in shared memory whether they store.
std::vector<StepWriter::Mask> StepWriter::find_flags() {
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
  std::vector<Mask> needed;
  for (unsigned n = 0; n < plan_.arrays.size(); ++n)
    needed.push_back(needed_by_flags(n));
  barrier();
  return needed;
}

// A place of the region that stores reads this element of the array.
StepWriter::Mask StepWriter::needed_by_flags(unsigned n) {
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

} // namespace ptxasw::passes
