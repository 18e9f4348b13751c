// The numbers of numbers.def as constants: numbers::coarsen::least_share.
#pragma once

#include <array>

namespace ptxasw::numbers {

#define ORIGIN(name, how, chip, command, file, note)
#define NUMBER(group, type, name, value, origin, meaning)                                          \
  namespace group {                                                                                \
  inline constexpr type name = value;                                                              \
  }
#define NUMBERS(group, count, name, origin, meaning, ...)                                          \
  namespace group {                                                                                \
  inline constexpr std::array<double, count> name{__VA_ARGS__};                                    \
  }
#include "target/numbers.def"

} // namespace ptxasw::numbers
