// Looks for what varies in all that a plan takes for the same in each pass.
#include "passes/time_tile/sequence/varying.hpp"

#include "passes/time_tile/emit/body.hpp"

#include <algorithm>

namespace ptxasw::passes {

using contract::SeenSequence;
using Part = contract::Sequence::Part;

namespace {

bool may_vary(std::span<emulator::Kernel* const> kernels, const SeenSequence& seen,
              const Part& part) {
  return part.stage < kernels.size() && class_of(seen, part) == nullptr &&
         std::ranges::any_of(kernels[part.stage]->body.symbols, [&](const ptx::Symbol& symbol) {
           return symbol.kind == ptx::Symbol::Kind::parameter &&
                  contract::part(symbol.index, 0) == part.part &&
                  contract::is_one_value(symbol.size);
         });
}

bool varies(const VaryingStage& in, unsigned part) {
  const Part whole{in.stage, contract::part(contract::number_of(part), 0)};
  return std::ranges::find(in.varying, whole) != in.varying.end();
}

bool varies(const VaryingStage& in, const IntegerPolynomial& whole) {
  return std::ranges::any_of(whole.terms(), [&](const auto& term) {
    return std::ranges::any_of(term.first, [&](const Quantity& factor) {
      return !factor.is_axis && factor.of == Quantity::Of::launch && varies(in, factor.number);
    });
  });
}

bool varies(const VaryingStage& in, const std::vector<Bound>& bounds) {
  return std::ranges::any_of(bounds, [&](const Bound& bound) { return varies(in, bound.at); });
}

bool varies(const VaryingStage& in, const StepArray& array) {
  return varies(in, array.in) || varies(in, array.element) ||
         std::ranges::any_of(array.loads, [&](const StepArray::Load& load) {
           return varies(in, load.where) ||
                  std::ranges::any_of(load.cases, [&](const StepArray::Case& one) {
                    return varies(in, one.bounds);
                  });
         });
}

// A load of one value by the parameter's name is what each pass can do of itself.
bool varies_otherwise(const VaryingStage& in, ptx::InstId id) {
  const ptx::Inst& inst = in.body.insts[id];
  if (ptx::group(inst.op) == ptx::Group::load && inst.mods.space == ptx::Space::param) {
    const auto part = parameter_read(in.body, inst);
    return !part || (varies(in, *part) && in.body.dst(inst).size() != 1);
  }
  return std::ranges::any_of(in.body.src(inst), [&](const ptx::Arg& arg) {
    return arg.kind == ptx::Arg::Kind::symbol &&
           in.body.symbols[arg.id].kind == ptx::Symbol::Kind::parameter;
  });
}

} // namespace

const SeenSequence::Class* class_of(const SeenSequence& seen, const Part& part) {
  for (const SeenSequence::Class& one : seen.classes)
    if (std::ranges::find(one.parts, part) != one.parts.end()) return &one;
  return nullptr;
}

bool have_own_numbers(std::span<emulator::Kernel* const> kernels, const SeenSequence& seen) {
  return std::ranges::all_of(seen.varying,
                             [&](const Part& part) { return may_vary(kernels, seen, part); });
}

bool hangs_on_varying(const VaryingStage& in, const StepPlan& plan) {
  if (in.varying.empty()) return false;
  const auto reads = [&](ptx::InstId id) {
    const auto part = parameter_read(in.body, in.body.insts[id]);
    return varies_otherwise(in, id) || (part && varies(in, *part));
  };
  const auto reads_otherwise = [&](ptx::InstId id) { return varies_otherwise(in, id); };
  return varies(in, plan.inner) || std::ranges::any_of(plan.guard_slice, reads) ||
         std::ranges::any_of(plan.value_slice, reads_otherwise) ||
         std::ranges::any_of(plan.arrays,
                             [&](const StepArray& array) { return varies(in, array); });
}

} // namespace ptxasw::passes
