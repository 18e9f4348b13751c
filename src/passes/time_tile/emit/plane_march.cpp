// What a block does at each position of its march through planes (PlaneWriter).
#include "passes/time_tile/emit/planes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace ptxasw::passes {

using ptx::Reg;
using namespace ptx::words;

void PlaneWriter::make_images() {
  const auto column = [&] {
    Column made;
    for (unsigned cell = 0; cell < at_.places(); ++cell)
      made.push_back(code_.make(ptx::bits(held_bits(plan_.arrays[0]))));
    return made;
  };
  for (unsigned level = 0; level < shape_.count; ++level) {
    std::vector<Column>& planes = images_.emplace_back();
    for (unsigned n = 0; n < at_.kept(); ++n)
      planes.push_back(column());
    keeps_.push_back(code_.make(b32)); // none of level 0
  }
  last_ = column();
}

// Planes count from the first one of the march.
PlaneWriter::Column& PlaneWriter::image(unsigned level, int plane) {
  const int kept = static_cast<int>(at_.kept());
  return images_[level][static_cast<unsigned>((plane % kept + kept) % kept)];
}

ptx::Memory PlaneWriter::in_tile(unsigned level, int plane, int column, int row) const {
  const int slots = static_cast<int>(at_.slots), slot = (plane % slots + slots) % slots;
  const int tile = static_cast<int>(level) * slots + slot;
  return {mine_, tile * static_cast<int>(at_.tile_bytes()) +
                     at_.in_tile(column, row) * static_cast<int>(bytes())};
}

// Registers and tiles come round behind a trip.
void PlaneWriter::march() {
  make_images();
  load_plane(image(0, 0), needed_);
  in_ = code_.into(code_.make(b64)).add(s64, in_, plane_stride_);
  position_ = code_.mov(u32, 0);
  plane_ = code_.mov(u32, plane_);
  const std::string begin = label("march"), end = label("end");
  code_.label(begin);
  for (unsigned n = 0; n < at_.period(); ++n) {
    position(n);
    code_.into(position_).add(s32, position_, 1);
    code_.when(code_.setp(ge, s32, position_, positions_)).bra_uni(end);
    code_.into(plane_).add(s32, plane_, 1);
    code_.into(in_).add(s64, in_, plane_stride_);
    code_.into(out_).add(s64, out_, plane_stride_);
  }
  code_.bra_uni(begin);
  code_.label(end);
  code_.ret();
}

// The first planes of a level hang on planes in front of the march: nobody needs them.
void PlaneWriter::position(unsigned n) {
  see_plane();
  if (at_.one_barrier()) {
    for (unsigned level = 0; level < shape_.count; ++level)
      pass_on(level, n);
    code_.bar_sync();
  }
  for (unsigned level = 1; level <= shape_.count; ++level) {
    if (!at_.one_barrier()) {
      pass_on(level - 1, n);
      code_.bar_sync();
    }
    const std::string behind = label("level");
    code_.when(code_.setp(lt, s32, position_, 2 * at_.far * level)).bra_uni(behind);
    if (level < shape_.count) ask_for_kept(level);
    step(level, n);
    if (level < shape_.count)
      keep(level, n);
    else
      store_plane(last_);
    code_.label(behind);
    if (level != 1) continue;
    // The oldest plane of level 0 has been read. There is one more plane, if not the last one.
    const std::string none = label("loaded");
    code_.when(code_.setp(ge, s32, plus(position_, 1), positions_)).bra_uni(none);
    load_plane(image(0, static_cast<int>(n) + 1), needed_);
    code_.label(none);
  }
}

// Whether the places of one more plane store. Mostly all planes around do, and are inside.
void PlaneWriter::see_plane() {
  const Reg plane = plus(plane_, at_.far + 1);
  const Reg stores = inside(at_.w, plane);
  for (Kind& kind : kinds_) {
    const Reg in = within_along(at_.w, plane, kind.bounds, stores);
    const Reg before = code_.shl(b32, kind.seen, 1);
    code_.into(kind.seen).or_(b32, before, code_.selp(b32, 1, 0, in));
  }
  const unsigned around = ~0U >> (30 - (shape_.count + 1) * at_.far); // as many, and two
  const Reg all = code_.setp(eq, u32, code_.and_(b32, kinds_[inner_].seen, around), around);
  code_.move(needed_, read_);
  for (unsigned level = 1; level < shape_.count; ++level)
    code_.move(keeps_[level], kept_);
  const std::string behind = label("seen");
  code_.when(all).bra_uni(behind);
  code_.move(needed_, readers(at_.far));
  for (unsigned level = 1; level < shape_.count; ++level) {
    const Reg others = code_.not_(b32, where_seen(stores_, ago(level)));
    code_.into(keeps_[level]).and_(b32, readers(ago(level)), others);
  }
  code_.label(behind);
}

// To other strips, what the next level reads last.
void PlaneWriter::pass_on(unsigned level, unsigned n) {
  const int plane = static_cast<int>(n) - static_cast<int>((level + 1) * at_.far) + at_.last_tiled;
  for (unsigned cell = 0; cell < at_.places(); ++cell)
    if (at_.is_passed_on(row_of(cell)))
      code_.st(
          ptx::Space::shared, type(),
          in_tile(level, plane, static_cast<int>(column_of(cell)), static_cast<int>(row_of(cell))),
          image(level, plane)[cell]);
}

StepBody::Place PlaneWriter::place_of(unsigned level, unsigned cell) {
  StepBody::Place place = place_;
  if (!body_.values_use_place()) return place;
  place[at_.u] = plus(place_[at_.u], column_of(cell));
  place[at_.v] = plus(place_[at_.v], row_of(cell));
  place[at_.w] = plus(plane_, -static_cast<long>(level * at_.far));
  return place;
}

void PlaneWriter::compute(unsigned level, unsigned cell, const StepBody::OnChip& on_chip,
                          const Column& into, bool inner, const Reg& does) {
  const Reg guard = does.empty() ? Reg{} : bit_of(does, cell);
  const auto results =
      body_.values(place_of(level, cell), on_chip, {into[cell]}, guard, inner,
                   fmt::format("{}copy{}", labels_, copies_++), {.guard = guard, .load = {}});
  if (results[0].text() != into[cell].name)
    code_.into(into[cell]).mov(move_type(kernel_.body, plan_.arrays[0]), results[0]);
}

// All places as those of the interior, and then the others once more.
void PlaneWriter::step(unsigned level, unsigned n) {
  const int plane = static_cast<int>(n) - static_cast<int>(level * at_.far);
  const Column& into = level < shape_.count ? image(level, plane) : last_;
  const Reg rim = plan_.inner.empty() ? Reg{} : rim_of(level);
  Reg does = body_.reads_others() ? where_seen(does_[level], ago(level)) : Reg{};
  if (!does.empty() && !rim.empty()) does = code_.and_(b32, does, code_.not_(b32, rim));
  Known known;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    const auto on_chip = [&](const StepArray&, const StepArray::Load* load) {
      return element(level, n, load == nullptr ? Offset{} : load->offset(), cell, known);
    };
    compute(level, cell, on_chip, into, true, does);
  }
  if (!rim.empty()) step_rim(level, n, into, known, rim);
}

// Places of the plane at hand that store and are not in the interior.
Reg PlaneWriter::rim_of(unsigned level) {
  const Reg bit = code_.and_(b32, kinds_[inner_].seen, 1U << ago(level));
  const Reg uninner = code_.selp(b32, stores_, rim_, code_.setp(eq, u32, bit, 0));
  return where_seen(uninner, ago(level));
}

// What lanes and strips hand on is fetched by all, ahead of the branches.
void PlaneWriter::step_rim(unsigned level, unsigned n, const Column& into, Known& known,
                           const Reg& rim) {
  for (unsigned cell = 0; cell < at_.places(); ++cell)
    for (const StepArray::Load& load : plan_.arrays[0].loads)
      for (const StepArray::Case& one : load.cases)
        element(level, n, one.offset, cell, known);
  const std::string behind = label("rim");
  code_.when(code_.setp(eq, u32, rim, 0)).bra(behind);
  std::vector<Reg> others; // where these cases hold in this plane
  for (const Other& other : others_)
    others.push_back(where_seen(other.mask, ago(level), other.kind));
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    const std::string next = label("cell");
    code_.unless(bit_of(rim, cell)).bra(next);
    const auto on_chip = [&](const StepArray&, const StepArray::Load* load) {
      if (load == nullptr) return element(level, n, {}, cell, known);
      Reg value = element(level, n, load->offset(), cell, known);
      for (const StepArray::Case& other : std::span(load->cases).subspan(1)) {
        const auto its = std::ranges::find(others_, other.bounds, &Other::bounds);
        const Reg here = bit_of(others[static_cast<std::size_t>(its - others_.begin())], cell);
        const Reg there = element(level, n, other.offset, cell, known);
        value = code_.selp(ptx::bits(held_bits(plan_.arrays[0])), there, value, here);
      }
      return value;
    };
    compute(level, cell, on_chip, into, false, body_.reads_others() ? does_[level] : Reg{});
    code_.label(next);
  }
  code_.label(behind);
}

// What a place of a level reads of the level before: a register of the thread, of another lane, or
// of another strip.
Reg PlaneWriter::element(unsigned level, unsigned n, const Offset& offset, unsigned cell,
                         Known& known) {
  const int plane = static_cast<int>(n) - static_cast<int>(level * at_.far) + offset[at_.w];
  const int column = static_cast<int>(column_of(cell)) + offset[at_.u],
            row = static_cast<int>(row_of(cell)) + offset[at_.v];
  const bool in_strip = row >= 0 && row < static_cast<int>(at_.rows());
  const StepLayout::Owner owner = at_.owner_of(column);
  const int lane = owner.thread;
  const auto there = [&] {
    return image(
        level - 1,
        plane)[static_cast<unsigned>(row) * at_.columns() + static_cast<unsigned>(owner.column)];
  };
  if (in_strip && lane == 0) return there();
  Reg& value = known[{plane, column, row}];
  if (!value.empty()) return value;
  value = code_.make(ptx::bits(held_bits(plan_.arrays[0])));
  if (in_strip)
    from_lane(there(), bytes(), lane, value);
  else
    code_.into(value).ld(ptx::Space::shared, type(), in_tile(level - 1, plane, column, row));
  return value;
}

// What no place stores to has what the array of this step has there: asked for ahead of the step,
// so that it comes while the others are computed.
void PlaneWriter::ask_for_kept(unsigned level) {
  const std::string behind = label("asked");
  code_.unless(code_.setp(ne, u32, keeps_[level], 0)).bra(behind);
  const long planes = level % 2 != 0 ? static_cast<long>((shape_.count - level) * at_.far)
                                     : -1 - static_cast<long>(level * at_.far);
  const Reg at = code_.mad(s64, plane_stride_, planes, level % 2 != 0 ? out_ : in_);
  load_masked(at, last_, keeps_[level]);
  code_.label(behind);
}

void PlaneWriter::keep(unsigned level, unsigned n) {
  const std::string behind = label("kept");
  code_.unless(code_.setp(ne, u32, keeps_[level], 0)).bra(behind);
  const Column& into = image(level, static_cast<int>(n) - static_cast<int>(level * at_.far));
  for (unsigned cell = 0; cell < at_.places(); ++cell)
    code_.when(bit_of(keeps_[level], cell))
        .into(into[cell])
        .mov(ptx::bits(held_bits(plan_.arrays[0])), last_[cell]);
  code_.label(behind);
}

void PlaneWriter::load_masked(const Reg& first, const Column& into, const Reg& mask) {
  Reg at = first;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_);
    code_.when(bit_of(mask, cell))
        .into(into[cell])
        .ld(ptx::Space::global, type(), {at, column_of(cell) * bytes()});
  }
}

// Mostly all of a thread's elements are read, or none.
void PlaneWriter::load_plane(const Column& into, const Reg& needed) {
  const std::string some = label("some"), behind = label("plane");
  code_.when(code_.setp(ne, u32, needed, full())).bra(some);
  Reg at = in_;
  for (unsigned cell = 0; cell < at_.places(); ++cell) {
    if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_);
    const ptx::Memory from{at, column_of(cell) * bytes()};
    if (vector() > 1 && column_of(cell) % vector() == 0)
      code_.when(aligned_).ld(ptx::Space::global, type(), std::span(into).subspan(cell, vector()),
                              from);
    code_.unless(aligned_).into(into[cell]).ld(ptx::Space::global, type(), from);
  }
  code_.bra(behind);
  code_.label(some);
  code_.when(code_.setp(eq, u32, needed, 0)).bra(behind);
  load_masked(in_, into, needed);
  code_.label(behind);
}

void PlaneWriter::store_plane(const Column& from) {
  const std::string some = label("store"), behind = label("stored");
  const Reg bit = code_.and_(b32, kinds_[0].seen, 1U << ago(shape_.count));
  code_.when(code_.setp(eq, u32, bit, 0)).bra_uni(behind);
  code_.when(code_.setp(ne, u32, does_[shape_.count], full())).bra(some);
  for (const bool all : {true, false}) {
    Reg at = out_;
    for (unsigned cell = 0; cell < at_.places(); ++cell) {
      if (cell != 0 && column_of(cell) == 0) at = added(at, row_stride_);
      const ptx::Memory to{at, column_of(cell) * bytes()};
      if (all && vector() > 1 && column_of(cell) % vector() == 0)
        code_.when(aligned_).st(ptx::Space::global, type(), to,
                                std::span(from).subspan(cell, vector()));
      if (all)
        code_.unless(aligned_).st(ptx::Space::global, type(), to, from[cell]);
      else
        code_.when(bit_of(does_[shape_.count], cell))
            .st(ptx::Space::global, type(), to, from[cell]);
    }
    if (!all) break;
    code_.bra(behind);
    code_.label(some);
    code_.when(code_.setp(eq, u32, does_[shape_.count], 0)).bra(behind);
  }
  code_.label(behind);
}

} // namespace ptxasw::passes
