// Read from the machine code that ptxas makes, on sm_75 to sm_120 alike. What is too small or too
// large for the hardware's reciprocal is scaled by powers of two, in which nothing is rounded.
#include "passes/pin_fma/hidden_product.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {
namespace {

constexpr auto two_to_24 = "0f4B800000", quarter = "0f3E800000", one = "0f3F800000",
               largest = "0f7E800000", smallest = "0f00800000";

std::string reciprocal(const std::string& to, const std::string& x,
                       const std::array<std::string, 2>& factors) {
  return fmt::format("{{ .reg .pred %p, %q, %n; .reg .f32 %a, %x; abs.f32 %a, {1}; "
                     "setp.gt.f32 %p, %a, {4}; setp.geu.f32 %q, %a, {5}; not.pred %n, %q; "
                     "selp.f32 %x, {6}, {7}, %n; selp.f32 {2}, {8}, %x, %p; "
                     "mul.f32 %x, {1}, {2}; rcp.approx.ftz.f32 {3}, %x; "
                     "mul.f32 {0}, {2}, {3}; }}",
                     to, x, factors[0], factors[1], largest, smallest, two_to_24, one, quarter);
}

} // namespace

std::string spell_out(const ptx::Inst& inst, bool full_range, const std::string& result,
                      const std::array<std::string, 2>& sources,
                      const std::array<std::string, 2>& factors) {
  const auto& [a, b] = sources;
  if (inst.op == ptx::Op::rcp) return reciprocal(result, a, factors);
  const std::string ftz = inst.mods.ftz ? ".ftz" : "";
  if (!full_range && inst.mods.ftz)
    return fmt::format("mov.f32 {2}, {1}; rcp.approx.ftz.f32 {3}, {4}; mul.ftz.f32 {0}, {2}, {3};",
                       result, a, factors[0], factors[1], b);
  std::string text = fmt::format("{{ .reg .pred %p, %q; .reg .f32 %a, %b; abs.f32 %a, {}; ", b);
  if (full_range) text += fmt::format("setp.gt{}.f32 %p, %a, {}; ", ftz, largest);
  if (!inst.mods.ftz) text += fmt::format("setp.geu.f32 %q, %a, {}; ", smallest);
  const auto scale = [&](const std::string& x) {
    if (full_range) text += fmt::format("@%p mul{0}.f32 {1}, {1}, {2}; ", ftz, x, quarter);
    if (!inst.mods.ftz) text += fmt::format("@!%q mul.f32 {0}, {0}, {1}; ", x, two_to_24);
  };
  text += fmt::format("mov.f32 %b, {}; ", b);
  scale("%b");
  text += fmt::format("rcp.approx.ftz.f32 {}, %b; mov.f32 {}, {}; ", factors[0], factors[1], a);
  scale(factors[1]);
  text += fmt::format("mul{}.f32 {}, {}, {}; }}", ftz, result, factors[0], factors[1]);
  return text;
}

} // namespace ptxasw::passes
