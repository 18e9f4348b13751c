// Counted when it is asked for: most kernels have nothing to rewrite.
#include "passes/shared/analysed.hpp"

#include <fmt/format.h>

namespace ptxasw::passes {

const Latitude& Analysed::latitude() {
  if (!counted) counted = count_latitude(kernel.body);
  return *counted;
}

unsigned Analysed::barring() {
  if (options.fp_contract != FpContract::exact) return 0;
  const Latitude& of = latitude();
  return of.halves + of.foldable + of.scalable - (is_validated ? of.alike : 0);
}

Why Analysed::why_bits_could_change() {
  if (options.fp_contract != FpContract::exact) return {};
  const Latitude& of = latitude();
  if (of.halves != 0)
    return {Reason::machine_code,
            fmt::format("ptxas 13.0 may lose one of two halves where it packs half-precision "
                        "operations, and {} selections choose between halves "
                        "(--fp-contract=any rewrites all the same)",
                        of.halves)};
  if (barring() != 0)
    return {Reason::folding_unknown,
            fmt::format("ptxas chooses by itself whether it folds {} approximate functions whose "
                        "argument may be a constant, and rounds them otherwise than the hardware "
                        "does{} (--fp-contract=any rewrites all the same)",
                        of.foldable,
                        of.scalable == 0 ? ""
                                         : fmt::format(", and whether it rounds {} products by a "
                                                       "power of two at all",
                                                       of.scalable))};
  if (of.fusable == 0) return {};
  const std::string known = unpinned.empty()
                                ? "its choice is not known (opt and the drop-in ask ptxas"
                                : fmt::format("its choice could not be pinned ({}", unpinned);
  return {Reason::fusing_unknown,
          fmt::format("ptxas chooses by itself which products of {} additions it fuses, and the "
                      "last bit of results depends on it; {}; --fp-contract=any rewrites all the "
                      "same)",
                      of.fusable, known)};
}

} // namespace ptxasw::passes
