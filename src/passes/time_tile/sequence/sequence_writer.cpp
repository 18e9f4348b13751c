// Emits passes through a sequence of kernels.
#include "passes/time_tile/sequence/sequence_writer.hpp"

#include "passes/shared/parameter_places.hpp"
#include "passes/time_tile/emit/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ptxasw::passes {

using ptx::Reg;
using ptx::Source;
using ptx::Special;
using namespace ptx::words;

namespace {

constexpr std::string_view threads_parameter = StepFrame::threads_parameter,
                           arrays_parameter = StepFrame::arrays_parameter,
                           tile_name = StepFrame::tile_name,
                           values_parameter = "ptxasw_step_values";
constexpr unsigned most_rows = 32; // a bit each of a word

int bytes_of_pass(const SequencePlan& plan) {
  return static_cast<int>(sizeof(std::uint64_t) * plan.varying.size());
}

// What a launch asks and touches is what its stages do.
void add_to(contract::Sequence::Stage& launch, const SequencePlan::Stage& stage) {
  const auto add = [](auto& all, const auto& more) {
    for (const auto& one : more)
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  };
  add(launch.conditions, stage.plan.conditions);
  add(launch.touched, stage.plan.touched);
  auto& box = launch.boxes.emplace_back();
  box.extents = stage.extents;
  for (unsigned axis = 0; axis < 3; ++axis) {
    box.first.at(axis) = stage.plan.around.at(axis).first;
    box.end.at(axis) = stage.plan.around.at(axis).end;
  }
}

} // namespace

ParameterNames parameter_names(std::span<emulator::Kernel* const> kernels, std::size_t launch) {
  const auto before = std::ranges::count(kernels.first(launch), kernels[launch]);
  return ParameterNames(kernels[launch]->body,
                        before == 0 ? "" : fmt::format("_ptxasw_again{}", before));
}

SequenceWriter::SequenceWriter(std::span<emulator::Kernel* const> kernels, const SequencePlan& plan,
                               const StepShape& shape, std::string name)
    : launches_(kernels), module_(*kernels[0]->body.module), plan_(plan), shape_(shape),
      name_(std::move(name)), at_(plan.region, shape_, plan.tiles),
      registers_(ptx::FreshRegisters::brief(module_)), code_(registers_),
      labels_(label_prefix(module_)) {
  for (const SequencePlan::Stage& found : plan.stages) {
    const emulator::Kernel& kernel = found.rim ? found.rim->kernel : *kernels[found.launch];
    const ParameterNames names = parameter_names(kernels, found.launch);
    stages_.push_back({kernel, found, names,
                       StepBody(kernel, found.plan, code_, names, varying_of(found.launch)),
                       PolynomialCode(code_, names, [](unsigned) { return Reg{}; },
                                      {std::string(threads_parameter),
                                       static_cast<unsigned>(12 * stages_.size())})});
    Stage& made = stages_.back();
    made.few = !found.plan.convex || !is_separable(made) || made.body.hold_on_a_line();
  }
}

StepBody::Varying SequenceWriter::varying_of(unsigned launch) const {
  StepBody::Varying made;
  for (std::size_t n = 0; n < plan_.varying.size(); ++n)
    if (const auto& [of, part] = plan_.varying[n]; of == launch)
      made.emplace(contract::number_of(part), static_cast<int>(sizeof(std::uint64_t) * n));
  return made;
}

SequenceEntry SequenceWriter::run() {
  entry_.refused = why_not();
  if (!entry_.refused.empty()) return std::move(entry_);
  prologue();
  if (!inside_.empty()) write_path(true);
  code_.label(labels_ + "rim");
  write_path(false);
  finish();
  return std::move(entry_);
}

Why SequenceWriter::why_not() const {
  if (!at_.refused.empty()) return at_.refused;
  if (shape_.columns != 1 || shape_.lanes || at_.rows() > most_rows)
    return {Reason::step_region, "no such shape"};
  if (std::ranges::any_of(stages_,
                          [](const Stage& stage) { return stage.found.plan.rows.has_value(); }))
    return {Reason::step_region, "its guards are of the number of a place"};
  return {};
}

Reg SequenceWriter::plus(const Reg& a, long n) {
  return n == 0 ? a : code_.add(s32, a, n);
}

// --- Where threads are ---------------------------------------------------------------------------

void SequenceWriter::prologue() {
  code_.comment(fmt::format("ptxasw: up to {} passes at once", shape_.count));
  if (may_begin_early(module_)) code_.griddepcontrol_wait(); // ahead of whatever touches memory
  for (std::size_t n = 0; n < stages_.size(); ++n) {
    stages_[n].body.parameters(stages_[n].numbers);
    for (const unsigned axis : {0U, 1U})
      stages_[n].limit[axis] = code_.ld(ptx::Space::param, u32,
                                        {threads_parameter, static_cast<int>(12 * n + 4 * axis)});
  }
  left_ =
      code_.ld(ptx::Space::param, u32, {threads_parameter, static_cast<int>(12 * stages_.size())});
  // One, as the number of passes is at least that. ptxas does not know: of words whose bits it
  // knows it makes predicates, and in doing so release 13.0 lost a negation (PROOF.md).
  one_ = code_.min(u32, left_, 1);
  if (!plan_.varying.empty()) values_ = code_.mov(u64, Source::address(values_parameter));
  find_thread();
  find_places();
  for (unsigned n = 0; n < plan_.region.arrays.size(); ++n)
    find_array(n);
  find_inside();
}

void SequenceWriter::find_thread() {
  const Reg thread = code_.special(Special::tid_x);
  column_ = code_.rem(u32, thread, at_.across());
  const Reg strip = code_.div(u32, thread, at_.across());
  first_row_ = code_.mul(u32, strip, at_.rows());
  const Reg tile = code_.mov(u32, Source::address(tile_name));
  const Reg at = code_.mad(u32, first_row_, at_.pitch, column_);
  for (unsigned n = 0; n < plan_.region.arrays.size(); ++n) {
    const unsigned bytes = plan_.region.arrays[n].bytes;
    const Reg first = code_.mad(u32, at, bytes, tile);
    arrays_.push_back({});
    arrays_.back().tile =
        plus(first, at_.tiles[n] + (at_.pad_v.before * at_.pitch + at_.pad_u.before) * bytes);
  }
}

void SequenceWriter::find_places() {
  const auto find = [&](unsigned axis, const Margin& halo, const Reg& own) {
    const Reg block = code_.special(along(Special::ctaid_x, axis));
    corner_[axis] = plus(code_.mul(u32, block, at_.centre(axis)), -static_cast<long>(halo.before));
    place_[axis] = code_.add(s32, corner_[axis], own);
  };
  find(at_.axes.u, at_.halo_u, column_);
  if (at_.has_strips()) find(at_.axes.v, at_.halo_v, first_row_);
  // Along which no element lies: one thread (StepSizes::finish).
  if (const auto axis = flat_axis()) place_[*axis] = code_.special(along(Special::ctaid_x, *axis));
}

std::optional<unsigned> SequenceWriter::flat_axis() const {
  for (const unsigned axis : {0U, 1U})
    if (axis != at_.axes.u && axis != at_.axes.v &&
        plan_.region.places[axis] != passes::Place::none)
      return axis;
  return std::nullopt;
}

// The element of the thread's first place, and how far it is from row to row.
void SequenceWriter::find_array(unsigned n) {
  const contract::Sequence::Part& pointer = plan_.pointers[n];
  Stage& owner = stages_[plan_.stage_of(pointer.stage)];
  const IntegerPolynomial& element = plan_.region.arrays[n].element;
  Place& place = arrays_[n];
  Reg offset = owner.numbers.number(element.elsewhere());
  for (const unsigned axis : {at_.axes.u, at_.axes.v}) {
    if (axis > 2) continue;
    const Reg stride = owner.numbers.number(element.along(axis));
    if (axis == at_.axes.v) place.row_stride = stride;
    offset = code_.mad(s64, code_.cvt(s64, s32, place_[axis]), stride, offset);
  }
  const auto begin = [&](const ptx::Memory& at) {
    const Reg address = code_.ld(ptx::Space::param, u64, at);
    return code_.add(s64, code_.cvta_to(ptx::Space::global, u64, address), offset);
  };
  place.own = code_.add(s64, owner.numbers.begin_of(pointer.part), offset);
  place.read = begin({arrays_parameter, static_cast<int>(sizeof(contract::ArrayPlace) * n)});
  place.write = begin({arrays_parameter, static_cast<int>(sizeof(contract::ArrayPlace) * n + 8)});
}

// --- Paths ---------------------------------------------------------------------------------------

void SequenceWriter::write_path(bool inner) {
  inner_ = inner;
  const auto known = known_; // ahead of both paths
  const auto around = around_;
  image_.clear();
  for (const StepArray& array : plan_.region.arrays) {
    Column& column = image_.emplace_back();
    for (unsigned row = 0; row < at_.rows(); ++row)
      column.push_back(code_.make(ptx::bits(held_bits(array))));
  }
  if (!inner) find_masks();
  for (unsigned n = 0; n < image_.size(); ++n)
    load(n);
  for (Stage& stage : stages_)
    if (stage.body.has_uniform_loads() && !is_left_out(stage))
      stage.body.uniform_loads(inner ? Reg{} : code_.setp(ne, u32, stage.stores, 0));
  loop();
  store_centre();
  code_.ret();
  known_ = known;
  around_ = around;
}

// In each place of the region, on the path without a rim.
bool SequenceWriter::is_stored(unsigned n) const {
  return std::ranges::any_of(
      stages_, [&](const Stage& stage) { return !stage.few && stage.found.stores(n); });
}

// By each place of the region, on that path: its own element, by a load that some stage does.
bool SequenceWriter::is_read(unsigned n) const {
  const auto holds_inside = [](const Stage& stage, const Bound& bound) {
    return std::ranges::find(stage.found.plan.inner, bound) != stage.found.plan.inner.end();
  };
  return std::ranges::any_of(stages_, [&](const Stage& stage) {
    return !stage.few && std::ranges::any_of(loads_of(stage, n), [&](const StepArray::Load& load) {
      return load.offset() == Offset{} && std::ranges::all_of(load.where, [&](const Bound& bound) {
               return holds_inside(stage, bound);
             });
    });
  });
}

void SequenceWriter::load(unsigned n) {
  const auto from = [&](Reg at, const Reg& where) {
    for (unsigned row = 0; row < at_.rows(); ++row) {
      if (row != 0) at = code_.add(s64, at, arrays_[n].row_stride);
      const Reg there = turned(n, at_.axes.v, row, turned(n, at_.axes.u, 0, at)),
                guard = where.empty() ? Reg{} : bit_of(where, row);
      code_.when(guard).into(image_[n][row]).ld(ptx::Space::global, type_of(n), {there, 0});
    }
  };
  if (inner_ && is_stored(n)) return from(arrays_[n].read, {});
  if (inner_) return from(arrays_[n].own, is_read(n) ? Reg{} : read_inside(n));
  from(arrays_[n].read, stored_[n]);
  from(arrays_[n].own, code_.and_(b32, needed_[n], code_.not_(b32, stored_[n])));
}

void SequenceWriter::loop() {
  Tiles begin;
  for (unsigned n = 0; n < image_.size(); ++n)
    begin.stale.insert(n);
  // As it is behind a pass.
  Tiles behind = begin;
  for (const Stage& stage : stages_)
    put_into_tiles(stage, behind, false);
  begin.read = behind.read;
  if (has_late_loads()) done_ = code_.mov(u32, 0);
  const std::string label = fmt::format("{}passes{}", labels_, inner_ ? 0 : 1);
  code_.label(label);
  Tiles tiles = begin;
  for (Stage& stage : stages_)
    begin_pass(stage);
  for (Stage& stage : stages_)
    run_stage(stage, tiles);
  if (!values_.empty()) code_.into(values_).add(s64, values_, bytes_of_pass(plan_));
  if (has_late_loads()) code_.into(done_).add(u32, done_, 1);
  code_.into(left_).add(s32, left_, -1);
  code_.when(code_.setp(gt, s32, left_, 0)).bra(label);
}

void SequenceWriter::begin_pass(Stage& stage) {
  if (values_.empty() || is_left_out(stage)) return;
  stage.body.begin_pass(values_, inner_ ? Reg{} : code_.setp(ne, u32, stage.stores, 0));
}

void SequenceWriter::run_stage(Stage& stage, Tiles& tiles) {
  put_into_tiles(stage, tiles, true);
  if (!is_left_out(stage)) step(stage);
}

// --- Neighbours ----------------------------------------------------------------------------------

bool SequenceWriter::is_beside(unsigned row, const Offset& offset) const {
  const int there = static_cast<int>(row) + offset_v(offset);
  return offset_u(offset) != 0 || there < 0 || there >= static_cast<int>(at_.rows());
}

// Arrays of which the stage reads other threads' places.
std::set<unsigned> SequenceWriter::read_beside(const Stage& stage) const {
  std::set<unsigned> all;
  for (std::size_t n = 0; n < stage.found.arrays.size(); ++n)
    for (const StepArray::Load& load : stage.found.plan.arrays[n].loads)
      for (const StepArray::Case& one : load.cases)
        if (is_beside(0, one.offset) || is_beside(at_.rows() - 1, one.offset))
          all.insert(stage.found.arrays[n]);
  return all;
}

// Rows of which some stage reads the place in another thread.
std::vector<bool> SequenceWriter::passed_on(unsigned n) const {
  std::vector<bool> passed(at_.rows());
  const int rows = static_cast<int>(at_.rows());
  for (const StepArray::Load& load : plan_.region.arrays[n].loads)
    for (const StepArray::Case& one : load.cases)
      for (int row = 0; row < rows; ++row)
        if (is_beside(static_cast<unsigned>(row), one.offset))
          passed[static_cast<unsigned>(((row + offset_v(one.offset)) % rows + rows) % rows)] = true;
  return passed;
}

// What the stage reads beside a place and what was stored to since. `write`: or else only what
// becomes of the tiles. One that is left out counts as if it had stored: arrays may share a tile
// because it does.
void SequenceWriter::put_into_tiles(const Stage& stage, Tiles& tiles, bool write) {
  const std::set<unsigned> beside = is_left_out(stage) ? std::set<unsigned>() : read_beside(stage);
  std::set<unsigned> put;
  std::ranges::set_intersection(beside, tiles.stale, std::inserter(put, put.end()));
  const bool are_read =
      std::ranges::any_of(put, [&](unsigned n) { return tiles.read.contains(plan_.tiles[n]); });
  if (!put.empty()) {
    if (write && are_read) code_.bar_sync(); // others still read what was there
    for (const unsigned n : put) {
      const std::vector<bool> passed = passed_on(n);
      for (unsigned row = 0; row < at_.rows() && write; ++row)
        if (passed[row])
          code_.st(ptx::Space::shared, type_of(n),
                   {arrays_[n].tile, at_.in_tile(0, static_cast<int>(row)) *
                                         static_cast<int>(plan_.region.arrays[n].bytes)},
                   image_[n][row]);
      tiles.stale.erase(n);
    }
    if (write) code_.bar_sync();
    tiles.read.clear();
  }
  for (const unsigned n : beside)
    tiles.read.insert(plan_.tiles[n]);
  for (std::size_t n = 0; n < stage.found.arrays.size(); ++n)
    if (!stage.found.plan.arrays[n].foreign) tiles.stale.insert(stage.found.arrays[n]);
}

Reg SequenceWriter::element(unsigned n, unsigned row, const Offset& offset,
                            std::map<std::tuple<unsigned, int, int>, Reg>& known) {
  const int there = static_cast<int>(row) + offset_v(offset);
  if (!is_beside(row, offset)) return image_[n][static_cast<unsigned>(there)];
  Reg& value = known[{n, offset_u(offset), there}];
  if (!value.empty()) return value;
  value = code_.make(ptx::bits(held_bits(plan_.region.arrays[n])));
  const int far = at_.in_tile(offset_u(offset), there);
  code_.into(value).ld(ptx::Space::shared, type_of(n),
                       {arrays_[n].tile, far * static_cast<int>(plan_.region.arrays[n].bytes)});
  return value;
}

void SequenceWriter::store_centre() {
  const auto within = [&](const Reg& at, const Margin& halo, unsigned axis) {
    return code_.setp(lt, u32, plus(at, -static_cast<long>(halo.before)), at_.centre(axis));
  };
  const Reg column = within(column_, at_.halo_u, at_.axes.u);
  for (unsigned n = 0; n < image_.size(); ++n) {
    if (inner_ && !is_stored(n)) continue;
    Reg at = arrays_[n].write;
    for (unsigned row = 0; row < at_.rows(); ++row) {
      if (row != 0) at = code_.add(s64, at, arrays_[n].row_stride);
      Reg guard = column;
      if (at_.has_strips()) {
        const Reg in = within(plus(first_row_, row), at_.halo_v, at_.axes.v);
        guard = code_.and_(pred, in, column);
      }
      if (!inner_) {
        guard = code_.and_(pred, bit_of(stored_[n], row), guard);
        guard = is_own(at_.axes.v, row, is_own(at_.axes.u, 0, guard));
      }
      code_.when(guard).st(ptx::Space::global, type_of(n), {at, 0}, image_[n][row]);
    }
  }
}

// --- The function --------------------------------------------------------------------------------

// Linkage as the first kernel's; the parameters of all stages, and those of the entry.
std::string SequenceWriter::header() const {
  const ptx::Function& first = *launches_[0]->body.function;
  const std::uint32_t begin = module_.statements[first.statement].range.begin;
  const auto name = static_cast<std::uint32_t>(first.name.data() - module_.text->data());
  std::string all = fmt::format("{}{}(", module_.slice({begin, name}), name_);
  for (unsigned launch = 0; launch < launches_.size(); ++launch) {
    const ptx::Function& function = *launches_[launch]->body.function;
    if (!function.parameters.empty())
      all += parameter_names(launches_, launch).in(own_parameters(module_, function)) + ",";
  }
  all += fmt::format("\n\t.param .align 4 .b8 {}[{}],\n\t.param .align 8 .b8 {}[{}]",
                     threads_parameter, 12 * stages_.size() + 4, arrays_parameter,
                     sizeof(contract::ArrayPlace) * image_.size());
  if (!values_.empty())
    all += fmt::format(",\n\t.param .align 8 .b8 {}[{}]", values_parameter,
                       bytes_of_pass(plan_) * static_cast<int>(shape_.count));
  return all + ")\n";
}

void SequenceWriter::finish() {
  entry_.text = function_text(header(), shape_, at_.block(), std::max(16U, at_.tile_bytes),
                              registers_, code_);
  contract::Sequence& made = entry_.contract;
  made.entry = name_;
  made.count = shape_.count;
  made.waits = may_begin_early(module_);
  made.block = {at_.block(), 1, 1};
  for (unsigned axis = 0; axis < 3; ++axis)
    made.covers.at(axis) = at_.centre(axis);
  for (const emulator::Kernel* const launch : launches_)
    made.stages.push_back({.kernel = std::string(launch->body.function->name),
                           .places = places_of(module_, *launch->body.function),
                           .conditions = {},
                           .touched = {},
                           .boxes = {}});
  for (const SequencePlan::Stage& stage : plan_.stages)
    add_to(made.stages[stage.launch], stage);
  made.equal = plan_.equal;
  made.same_threads = plan_.same_threads;
  made.arrays = plan_.pointers;
  made.varying = plan_.varying;
  for (const StepArray& array : plan_.region.arrays) {
    auto& [bytes, strides] = made.elements.emplace_back();
    bytes = array.bytes;
    for (unsigned axis = 0; axis < 3; ++axis)
      if (const IntegerPolynomial stride = array.element.along(axis); !stride.is_zero())
        strides.at(axis) = expression_of(stride);
  }
}

} // namespace ptxasw::passes
