// See steps_base.hpp.
#include "rewrite/steps_base.hpp"

#include "rewrite/coarsen_names.hpp"
#include "rewrite/parameters.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace ptxasw::rewrite {

using reuse::StepArray;
using reuse::Whole;

StepBase::StepBase(const emulator::Kernel& kernel, const reuse::StepPlan& plan,
                   const StepShape& shape, std::string name)
    : module_(*kernel.body.module), kernel_(kernel), plan_(plan), shape_(shape),
      name_(std::move(name)), registers_(module_, "%ptxasw_step"),
      body_(kernel, plan, registers_, text_), labels_(label_prefix(module_)) {}

// a + n
std::string StepBase::plus(const std::string& a, long n) {
  if (n == 0) return a;
  std::string into = b32();
  text_.line("add.s32 \t{}, {}, {};", into, a, n);
  return into;
}

std::string StepBase::widened(const std::string& a) {
  std::string into = b64();
  text_.line("cvt.s64.s32 \t{}, {};", into, a);
  return into;
}

// The number that a polynomial without coordinates is, modulo 2^64.
std::string StepBase::number(const Whole& whole) {
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

std::string StepBase::added(const std::string& a, const std::string& b) {
  std::string into = b64();
  text_.line("add.s64 \t{}, {}, {};", into, a, b);
  return into;
}

std::string StepBase::parameter(const reuse::Quantity& quantity) {
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

std::string StepBase::begin_of(unsigned parameter_number) {
  const std::string generic = b64();
  std::string into = b64();
  text_.line("ld.param.u64 \t{}, [{}];", generic,
             kernel_.body.function->parameters[parameter_number].name);
  text_.line("cvta.to.global.u64 \t{}, {};", into, generic);
  return into;
}

// Where the element of a place lies behind the array's begin.
std::string StepBase::element(unsigned n, const StepBody::Place& place) {
  const StepArray& array = plan_.arrays[n];
  std::string offset = number(array.element.elsewhere());
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Whole stride = array.element.along(axis);
    if (stride.is_zero()) continue;
    const std::string far = b64();
    text_.line("mad.lo.s64 \t{}, {}, {}, {};", far, widened(place[axis]), number(stride), offset);
    offset = far;
  }
  return offset;
}

// Vectors of so many bytes may be loaded and stored from there on, in each row.
std::string StepBase::is_aligned(const std::string& address, const std::string& row_stride,
                                 unsigned bytes) {
  std::string all = address;
  if (!row_stride.empty()) {
    all = b64();
    text_.line("or.b64 \t{}, {}, {};", all, address, row_stride);
  }
  const std::string low = b64();
  std::string aligned = predicate();
  text_.line("and.b64 \t{}, {}, {};", low, all, bytes - 1);
  text_.line("setp.eq.s64 \t{}, {}, 0;", aligned, low);
  return aligned;
}

// The place is in the grid, and its thread gets to the stores.
std::string StepBase::inside(const StepBody::Place& place) {
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

void StepBase::finish(unsigned block, const std::array<unsigned, 3>& covers,
                      const std::string& shared) {
  const ptx::Function& function = *kernel_.body.function;
  const ptx::Edit more = append_parameter(
      module_, function, fmt::format(".param .align 4 .b8 {}[12]", threads_parameter));
  const std::uint32_t begin = module_.statements[function.statement].range.begin;
  std::string header(module_.slice({begin, more.where.begin}));
  const auto name = static_cast<std::size_t>(function.name.data() - module_.text->data()) - begin;
  header.replace(name, function.name.size(), name_);
  const std::string resident =
      shape_.resident == 0 ? "" : fmt::format(".minnctapersm {}\n", shape_.resident);
  entry_.text = fmt::format("{}{})\n.maxntid {}\n{}{{\n{}{}{}\n}}", header, more.text, block,
                            resident, registers_.declarations(), shared, text_.all);
  contract::Steps& made = entry_.contract;
  made.entry = name_;
  made.count = shape_.count;
  for (const StepArray& array : plan_.arrays)
    made.swaps.push_back({array.in, array.out});
  made.block = {block, 1, 1};
  made.covers = covers;
  made.conditions = plan_.conditions;
  made.touched = plan_.touched;
}

// The type of a move into an image.
std::string StepBase::move_type(const StepArray& array) const {
  const ptx::Inst& store = kernel_.body.insts[array.store];
  const bool literal = kernel_.body.src(store)[0].kind == ptx::Arg::Kind::imm;
  return literal && array.bytes > 1 ? std::string(ptx::name(store.mods.type))
                                    : fmt::format("b{}", held_bits(array));
}

} // namespace ptxasw::rewrite
