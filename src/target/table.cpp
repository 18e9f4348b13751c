// numbers.def is read twice here, once for the origins and once for the rows.
#include "target/table.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::numbers {
namespace {

constexpr std::array all_origins{
#define ORIGIN(name, how, chip, command, file, note)                                               \
  Origin{#name, How::how, chip, command, file, note},
#define NUMBER(group, type, name, value, origin, meaning)
#define NUMBERS(group, count, name, origin, meaning, ...)
#include "target/numbers.def"
};

constexpr std::array all_rows{
#define ORIGIN(name, how, chip, command, file, note)
#define NUMBER(group, type, name, value, origin, meaning)                                          \
  Row{#group, #name, #value, #origin, meaning},
#define NUMBERS(group, count, name, origin, meaning, ...)                                          \
  Row{#group, #name, #__VA_ARGS__, #origin, meaning},
#include "target/numbers.def"
};

} // namespace

std::span<const Origin> origins() {
  return all_origins;
}

std::span<const Row> rows() {
  return all_rows;
}

const Origin* find_origin(std::string_view name) {
  const auto found = std::ranges::find(all_origins, name, &Origin::name);
  return found == all_origins.end() ? nullptr : &*found;
}

} // namespace ptxasw::numbers
