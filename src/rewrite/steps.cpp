// See steps.hpp.
#include "rewrite/steps.hpp"

#include "rewrite/coarsen_names.hpp"
#include "rewrite/parameters.hpp"
#include "rewrite/steps_body.hpp"
#include "rewrite/steps_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace ptxasw::rewrite {

using reuse::Offset;
using reuse::StepArray;
using reuse::Whole;

namespace {

constexpr std::string_view threads_parameter = "ptxasw_step_threads",
                           tile_name = "ptxasw_step_tile";
class Writer {
public:
  Writer(const emulator::Kernel& kernel, const reuse::StepPlan& plan, const StepShape& shape,
         std::string name)
      : module_(*kernel.body.module), kernel_(kernel), plan_(plan), shape_(shape),
        name_(std::move(name)), registers_(module_, "%ptxasw_step"),
        body_(kernel, plan, registers_, text_), labels_(label_prefix(module_)), at_(plan, shape) {}

  StepEntry run() {
    if (!at_.refused.empty()) return {.refused = at_.refused};
    prologue();
    write_path(true);
    text_.label(labels_ + "rim");
    write_path(false);
    finish();
    return std::move(entry_);
  }

private:
  // --- Small parts -------------------------------------------------------------------------------

  std::string b32() { return registers_.make("b32"); }
  std::string b64() { return registers_.make("b64"); }
  std::string predicate() { return registers_.make("pred"); }
  // a + n
  std::string plus(const std::string& a, long n) {
    if (n == 0) return a;
    std::string into = b32();
    text_.line("add.s32 \t{}, {}, {};", into, a, n);
    return into;
  }

  std::string widened(const std::string& a) {
    std::string into = b64();
    text_.line("cvt.s64.s32 \t{}, {};", into, a);
    return into;
  }

  // The number that a polynomial without coordinates is, modulo 2^64.
  std::string number(const Whole& whole) {
    std::string sum;
    for (const auto& [product, coefficient] : whole.terms()) {
      std::string made = b64();
      text_.line("mov.b64 \t{}, {};", made, static_cast<std::int64_t>(coefficient));
      for (const reuse::Quantity& factor : product) {
        std::string more = b64();
        text_.line("mul.lo.s64 \t{}, {}, {};", more, made, parameter(factor));
        made = std::move(more);
      }
      sum = sum.empty() ? made : added(sum, made);
    }
    if (!sum.empty()) return sum;
    sum = b64();
    text_.line("mov.b64 \t{}, 0;", sum);
    return sum;
  }

  std::string added(const std::string& a, const std::string& b) {
    std::string into = b64();
    text_.line("add.s64 \t{}, {}, {};", into, a, b);
    return into;
  }

  std::string parameter(const reuse::Quantity& quantity) {
    using Type = contract::Token::Type;
    const bool narrow = quantity.as == Type::s32 || quantity.as == Type::u32;
    std::string into = b64();
    const std::string_view name = kernel_.body.function->parameters[quantity.number].name;
    if (!narrow) {
      text_.line("ld.param.b64 \t{}, [{}];", into, name);
      return into;
    }
    const std::string word = b32();
    text_.line("ld.param.b32 \t{}, [{}];", word, name);
    text_.line("cvt.{}64.{}32 \t{}, {};", quantity.as == Type::s32 ? 's' : 'u',
               quantity.as == Type::s32 ? 's' : 'u', into, word);
    return into;
  }

  std::string begin_of(unsigned parameter_number) {
    const std::string generic = b64();
    std::string into = b64();
    text_.line("ld.param.u64 \t{}, [{}];", generic,
               kernel_.body.function->parameters[parameter_number].name);
    text_.line("cvta.to.global.u64 \t{}, {};", into, generic);
    return into;
  }

  // --- Prologue ----------------------------------------------------------------------------------

  void prologue() {
    text_.line("// ptxasw: {} steps at once", shape_.count);
    body_.parameters();
    const std::string thread = b32();
    text_.line("mov.u32 \t{}, %tid.x;", thread);
    thread_ = thread;
    column_ = b32();
    text_.line("and.b32 \t{}, {}, {};", column_, thread, shape_.width - 1);
    first_row_ = b32();
    if (at_.has_strips()) {
      const std::string strip = b32();
      text_.line("shr.u32 \t{}, {}, {};", strip, thread, std::countr_zero(shape_.width));
      text_.line("mul.lo.u32 \t{}, {}, {};", first_row_, strip, at_.rows());
    } else {
      text_.line("mov.u32 \t{}, 0;", first_row_);
    }
    for (unsigned axis = 0; axis < 3; ++axis)
      if (plan_.places[axis] != reuse::Place::none) find_place(axis);
    for (unsigned n = 0; n < plan_.arrays.size(); ++n)
      find_elements(n);
    const std::string tile = b32(), row = b32();
    text_.line("mov.u32 \t{}, {};", tile, tile_name);
    text_.line("mad.lo.u32 \t{}, {}, {}, {};", row, first_row_, at_.pitch, column_);
    for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
      const StepArray& array = plan_.arrays[n];
      const std::string mine = b32();
      text_.line("mad.lo.u32 \t{}, {}, {}, {};", mine, row, array.bytes, tile);
      mine_.push_back(plus(mine, at_.tiles[n] + (at_.pad_v.before * at_.pitch + at_.pad_u.before) *
                                                    array.bytes));
    }
    if (plan_.convex) { // the region's corners tell of all of it
      StepBody::Place last = corner_;
      last[at_.axes.u] = plus(corner_[at_.axes.u], shape_.width - 1);
      if (at_.has_strips()) last[at_.axes.v] = plus(corner_[at_.axes.v], at_.height() - 1);
      const std::string first_in = inside(corner_), last_in = inside(last), both = predicate();
      text_.line("and.pred \t{}, {}, {};", both, first_in, last_in);
      text_.line("@!{} bra \t{}rim;", both, labels_);
    } else {
      text_.line("bra \t{}rim;", labels_);
    }
  }

  // The region's first place and this thread's own along an axis.
  void find_place(unsigned axis) {
    const std::string block = b32(), limit = b32();
    text_.line("mov.u32 \t{}, %ctaid.{};", block, "xyz"[axis]);
    text_.line("ld.param.u32 \t{}, [{}+{}];", limit, threads_parameter, 4 * axis);
    limit_[axis] = limit;
    if (axis != at_.axes.u && axis != at_.axes.v) {
      corner_[axis] = place_[axis] = block;
      return;
    }
    const Margin& halo = axis == at_.axes.u ? at_.halo_u : at_.halo_v;
    std::string first = b32();
    text_.line("mul.lo.u32 \t{}, {}, {};", first, block, at_.centre(axis));
    corner_[axis] = plus(first, -static_cast<long>(halo.before));
    place_[axis] = b32();
    text_.line("add.s32 \t{}, {}, {};", place_[axis], corner_[axis],
               axis == at_.axes.u ? column_ : first_row_);
  }

  // Where the elements of this thread's column begin, and how far it is from row to row.
  void find_elements(unsigned n) {
    const StepArray& array = plan_.arrays[n];
    std::string offset = number(array.element.elsewhere());
    for (unsigned axis = 0; axis < 3; ++axis) {
      const Whole stride = array.element.along(axis);
      if (stride.is_zero()) continue;
      const std::string along = number(stride), far = b64();
      if (axis == at_.axes.v) row_stride_.resize(n + 1, along);
      text_.line("mad.lo.s64 \t{}, {}, {}, {};", far, widened(place_[axis]), along, offset);
      offset = far;
    }
    row_stride_.resize(n + 1);
    in_.push_back(added(begin_of(array.in), offset));
    out_.push_back(added(begin_of(array.out), offset));
  }

  // The place is in the grid, and its thread gets to the stores.
  std::string inside(const StepBody::Place& place) {
    std::string all = body_.guards(place);
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (plan_.places[axis] == reuse::Place::none) continue;
      const std::string in_grid = predicate();
      if (all.empty())
        text_.line("setp.lt.u32 \t{}, {}, {};", in_grid, place[axis], limit_[axis]);
      else
        text_.line("setp.lt.and.u32 \t{}, {}, {}, {};", in_grid, place[axis], limit_[axis], all);
      all = in_grid;
    }
    return all;
  }

  [[nodiscard]] StepBody::Place place_of_row(unsigned row) {
    StepBody::Place place = place_;
    if (at_.has_strips()) place[at_.axes.v] = plus(place_[at_.axes.v], row);
    return place;
  }

  // --- A path: regions without a rim, or any -----------------------------------------------------

  using Image = std::vector<std::vector<std::string>>; // by array and row

  void write_path(bool inner) {
    inner_ = inner;
    mask_.clear();
    read_.clear();
    write_.clear();
    for (const StepArray& array : plan_.arrays) {
      for (Image* image : {&read_, &write_}) {
        auto& column = image->emplace_back();
        for (unsigned row = 0; row < at_.rows(); ++row)
          column.push_back(registers_.make(fmt::format("b{}", array.bytes * 8)));
      }
    }
    if (!inner) find_mask();
    load_images();
    if (body_.has_uniform_loads()) {
      std::string any;
      if (!inner) {
        any = predicate();
        text_.line("setp.ne.u32 \t{}, {}, 0;", any, mask_);
      }
      body_.uniform_loads(any);
    }
    for (unsigned t = 0; t < shape_.count; ++t) {
      step(t);
      std::swap(read_, write_);
    }
    store_centre(); // what was written last is read_ now
    text_.line("ret;");
  }

  // Bit by row: the place stores.
  void find_mask() {
    mask_ = b32();
    text_.line("mov.u32 \t{}, 0;", mask_);
    for (unsigned row = 0; row < at_.rows(); ++row) {
      const std::string in = inside(place_of_row(row)), more = b32(), bit = b32();
      text_.line("selp.b32 \t{}, {}, 0, {};", bit, 1U << row, in);
      text_.line("or.b32 \t{}, {}, {};", more, mask_, bit);
      mask_ = more;
    }
  }

  std::string bit_of(const std::string& mask, unsigned row) {
    const std::string bit = b32();
    std::string is = predicate();
    text_.line("and.b32 \t{}, {}, {};", bit, mask, 1U << row);
    text_.line("setp.ne.u32 \t{}, {}, 0;", is, bit);
    return is;
  }

  void barrier() { text_.line("bar.sync \t0;"); }

  [[nodiscard]] std::string in_tile(unsigned n, unsigned buffer, int column, int row) const {
    const int place = row * static_cast<int>(at_.pitch) + column;
    const int bytes =
        place * static_cast<int>(plan_.arrays[n].bytes) + static_cast<int>(buffer * at_.tile_bytes);
    return fmt::format("[{}+{}]", mine_[n], bytes);
  }

  [[nodiscard]] int offset_u(const Offset& offset) const { return offset[at_.axes.u]; }
  [[nodiscard]] int offset_v(const Offset& offset) const {
    return at_.has_strips() ? offset[at_.axes.v] : 0;
  }

  // The elements of `in` that some place of the region reads as it stores, and those of `out` that
  // are read in the second step and that nobody writes in the first.
  void load_images() {
    if (inner_) {
      for (unsigned n = 0; n < plan_.arrays.size(); ++n)
        load_column(n, in_[n], read_[n], [](unsigned) { return std::string(); });
      return;
    }
    clear_tiles();
    barrier();
    for (unsigned row = 0; row < at_.rows(); ++row) {
      const std::string flag = b32();
      text_.line("shr.u32 \t{}, {}, {};", flag, mask_, row);
      text_.line("st.shared.u32 \t{}, {};", in_tile(0, 0, 0, static_cast<int>(row)), flag);
    }
    barrier();
    for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
      const std::string needed = find_needed(n), rest = b32(), kept = b32();
      text_.line("not.b32 \t{}, {};", rest, mask_);
      text_.line("and.b32 \t{}, {}, {};", kept, needed, rest);
      load_column(n, in_[n], read_[n], [&](unsigned row) { return bit_of(needed, row); });
      load_column(n, out_[n], write_[n], [&](unsigned row) { return bit_of(kept, row); });
    }
    barrier();
  }

  // Bit by row: a place of the region that stores reads this element of the array.
  std::string find_needed(unsigned n) {
    std::string needed = b32();
    text_.line("mov.u32 \t{}, 0;", needed);
    std::map<std::pair<int, int>, std::string> flags;
    for (unsigned row = 0; row < at_.rows(); ++row) {
      std::string any;
      for (const StepArray::Load& load : plan_.arrays[n].loads) {
        const std::pair from{-offset_u(load.offset), static_cast<int>(row) - offset_v(load.offset)};
        auto [flag, missing] = flags.try_emplace(from);
        if (missing) {
          flag->second = b32();
          text_.line("ld.shared.u32 \t{}, {};", flag->second,
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
      text_.line("shl.b32 \t{}, {}, {};", placed, bit, row);
      text_.line("or.b32 \t{}, {}, {};", more, needed, placed);
      needed = more;
    }
    return needed;
  }

  // Margins count as places that do not store.
  void clear_tiles() {
    const unsigned words = at_.tile_places * plan_.arrays[0].bytes / 4;
    const std::string base = b32(), at = b32();
    text_.line("mov.u32 \t{}, {};", base, tile_name);
    text_.line("mad.lo.u32 \t{}, {}, 4, {};", at, thread_, base);
    for (unsigned first = 0; first < words; first += at_.block()) {
      std::string guard;
      if (first + at_.block() > words) {
        guard = predicate();
        text_.line("setp.lt.u32 \t{}, {}, {};", guard, thread_, words - first);
      }
      text_.line("{}st.shared.u32 \t[{}+{}], 0;", guard.empty() ? "" : fmt::format("@{} ", guard),
                 at, first * 4);
    }
  }

  template <class Guard>
  void load_column(unsigned n, const std::string& first, const std::vector<std::string>& into,
                   const Guard& guard_of) {
    std::string at = first;
    for (unsigned row = 0; row < at_.rows(); ++row) {
      if (row != 0) at = added(at, row_stride_[n]);
      const std::string guard = guard_of(row);
      text_.line("{}ld.global.b{} \t{}, [{}];", guard.empty() ? "" : fmt::format("@{} ", guard),
                 plan_.arrays[n].bytes * 8, into[row], at);
    }
  }

  // --- Steps -------------------------------------------------------------------------------------

  [[nodiscard]] bool is_in_strip(const Offset& offset, unsigned row) const {
    const int there = static_cast<int>(row) + offset_v(offset);
    return offset_u(offset) == 0 && there >= 0 && there < static_cast<int>(at_.rows());
  }

  [[nodiscard]] bool is_shared(const StepArray& array) const {
    return std::ranges::any_of(array.loads, [&](const StepArray::Load& load) {
      return offset_u(load.offset) != 0 || offset_v(load.offset) != 0;
    });
  }

  void step(unsigned t) {
    const unsigned buffer = at_.two_tiles ? t % 2 : 0;
    if (!at_.two_tiles && t != 0) barrier(); // everybody has read
    bool any = false;
    for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
      if (!is_shared(plan_.arrays[n])) continue;
      any = true;
      for (unsigned row = 0; row < at_.rows(); ++row)
        text_.line("st.shared.b{} \t{}, {};", plan_.arrays[n].bytes * 8,
                   in_tile(n, buffer, 0, static_cast<int>(row)), read_[n][row]);
    }
    if (any) barrier();
    std::vector<std::map<std::pair<int, int>, std::string>> known(plan_.arrays.size());
    for (unsigned row = 0; row < at_.rows(); ++row) {
      const auto on_chip = [&](const StepArray& array, const Offset& offset) {
        const auto n = static_cast<unsigned>(&array - plan_.arrays.data());
        const int there = static_cast<int>(row) + offset_v(offset);
        if (is_in_strip(offset, row)) return read_[n][static_cast<unsigned>(there)];
        std::string& value = known[n][{offset_u(offset), there}];
        if (value.empty()) {
          value = registers_.make(fmt::format("b{}", array.bytes * 8));
          text_.line("ld.shared.b{} \t{}, {};", array.bytes * 8, value,
                     in_tile(n, buffer, offset_u(offset), there));
        }
        return value;
      };
      const std::string guard = inner_ ? "" : bit_of(mask_, row);
      const auto results = body_.values(place_of_row(row), on_chip, guard);
      for (unsigned n = 0; n < results.size(); ++n)
        text_.line("{}mov.{} \t{}, {};", inner_ ? "" : fmt::format("@{} ", guard),
                   move_type(plan_.arrays[n]), write_[n][row], results[n]);
    }
  }

  [[nodiscard]] std::string move_type(const StepArray& array) const {
    const ptx::Inst& store = kernel_.body.insts[array.store];
    const bool literal = kernel_.body.src(store)[0].kind == ptx::Arg::Kind::imm;
    return literal ? std::string(ptx::name(store.mods.type)) : fmt::format("b{}", array.bytes * 8);
  }

  void store_centre() {
    std::string in_centre = predicate();
    text_.line("setp.lt.u32 \t{}, {}, {};", in_centre,
               plus(column_, -static_cast<long>(at_.halo_u.before)), at_.centre(at_.axes.u));
    for (unsigned n = 0; n < plan_.arrays.size(); ++n) {
      std::string at = out_[n];
      for (unsigned row = 0; row < at_.rows(); ++row) {
        if (row != 0) at = added(at, row_stride_[n]);
        std::string guard = in_centre;
        if (at_.halo_v.both() != 0) {
          guard = predicate();
          text_.line(
              "setp.lt.and.u32 \t{}, {}, {}, {};", guard,
              plus(first_row_, static_cast<long>(row) - static_cast<long>(at_.halo_v.before)),
              at_.centre(at_.axes.v), in_centre);
        }
        if (!inner_) {
          const std::string stores = bit_of(mask_, row), both = predicate();
          text_.line("and.pred \t{}, {}, {};", both, stores, guard);
          guard = both;
        }
        text_.line("@{} st.global.b{} \t[{}], {};", guard, plan_.arrays[n].bytes * 8, at,
                   read_[n][row]);
      }
    }
  }

  // --- The entry ---------------------------------------------------------------------------------

  void finish() {
    const ptx::Function& function = *kernel_.body.function;
    const ptx::Edit more = append_parameter(
        module_, function, fmt::format(".param .align 4 .b8 {}[12]", threads_parameter));
    const std::uint32_t begin = module_.statements[function.statement].range.begin;
    std::string header(module_.slice({begin, more.where.begin}));
    const auto name = static_cast<std::size_t>(function.name.data() - module_.text->data()) - begin;
    header.replace(name, function.name.size(), name_);
    const std::string resident =
        shape_.resident == 0 ? "" : fmt::format(".minnctapersm {}\n", shape_.resident);
    entry_.text = fmt::format("{}{})\n.maxntid {}\n{}{{\n{}\t.shared .align 16 .b8 {}[{}];\n{}\n}}",
                              header, more.text, at_.block(), resident, registers_.declarations(),
                              tile_name, at_.shared(), text_.all);
    contract::Steps& made = entry_.contract;
    made.entry = name_;
    made.count = shape_.count;
    for (const StepArray& array : plan_.arrays)
      made.swaps.push_back({array.in, array.out});
    made.block = {at_.block(), 1, 1};
    for (unsigned axis = 0; axis < 3; ++axis)
      made.covers[axis] = at_.centre(axis);
    made.conditions = plan_.conditions;
    made.touched = plan_.touched;
  }

  const ptx::Module& module_;
  const emulator::Kernel& kernel_;
  const reuse::StepPlan& plan_;
  const StepShape& shape_;
  std::string name_;
  StepEntry entry_;

  Registers registers_;
  Text text_;
  StepBody body_;
  std::string labels_;
  StepLayout at_;
  std::string thread_, column_, first_row_;
  StepBody::Place corner_, place_, limit_;
  std::vector<std::string> in_, out_, row_stride_, mine_; // by array
  bool inner_ = true;
  std::string mask_;
  Image read_, write_;
};

} // namespace

StepEntry write_steps(const emulator::Kernel& kernel, const reuse::StepPlan& plan,
                      const StepShape& shape, const std::string& name) {
  if (!plan.refused.empty()) return {.refused = plan.refused};
  for (const std::string_view taken : {threads_parameter, tile_name})
    if (kernel.body.module->text->find(taken) != std::string::npos)
      return {.refused = fmt::format("the module has a name {}", taken)};
  if (shape.rows > 32 || shape.count % 2 == 0) return {.refused = "no such shape"};
  return Writer(kernel, plan, shape, name).run();
}

} // namespace ptxasw::rewrite
