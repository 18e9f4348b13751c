// The objects that stand for contracts.
#include "prepare/contracts.hpp"

#include "image/entry.hpp"

namespace ptxasw::prepare {

Contracts contracts_of(const sass::Cubin& cubin) {
  Contracts all;
  for (const sass::Symbol& symbol : cubin.symbols()) {
    if (!symbol.name.starts_with(contract::symbol_prefix) ||
        symbol.section >= cubin.sections().size())
      continue;
    const std::string_view bytes = cubin.sections()[symbol.section].bytes;
    if (symbol.value > bytes.size() || bytes.size() - symbol.value < symbol.size) continue;
    if (auto found = contract::decode(bytes.substr(symbol.value, symbol.size)))
      all.emplace(found->kernel, std::move(*found));
  }
  return all;
}

Contracts contracts_in(image::Bytes image, std::string_view chip) {
  const auto wanted = image::chip_of(chip);
  if (!wanted) return {};
  const image::Choice choice = image::choose(image::probe(image), *wanted);
  if (!choice.code) return {};
  const auto code = image::body_of(*choice.code);
  return code ? contracts_of(sass::Cubin(*code)) : Contracts{};
}

} // namespace ptxasw::prepare
