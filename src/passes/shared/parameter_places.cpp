// Read off the symbols of the resolved body.
#include "passes/shared/parameter_places.hpp"

#include "ptx/body.hpp"

#include <algorithm>

namespace ptxasw::passes {

std::vector<contract::ParameterSlot> places_of(const ptx::Module& module,
                                               const ptx::Function& kernel) {
  const ptx::Body body = ptx::resolve(module, kernel);
  std::vector<contract::ParameterSlot> places(kernel.parameters.size());
  for (const ptx::Symbol& symbol : body.symbols) {
    if (symbol.kind != ptx::Symbol::Kind::parameter) continue;
    if (symbol.size == 0 || symbol.index >= places.size()) return {};
    places[symbol.index] = {static_cast<unsigned>(symbol.offset),
                            static_cast<unsigned>(symbol.size)};
  }
  const bool known = std::ranges::none_of(
      places, [](const contract::ParameterSlot& place) { return place.size == 0; });
  return known ? places : std::vector<contract::ParameterSlot>{};
}

} // namespace ptxasw::passes
