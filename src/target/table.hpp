// The same numbers as rows: where each is from, for tests and for whoever asks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ptxasw::numbers {

enum class How : std::uint8_t { fitted, measured, stated, chosen };

// See numbers.def.
struct Origin {
  std::string_view name;
  How how = How::chosen;
  std::string_view chip, command, file, note;
};

struct Row {
  std::string_view group, name, value, origin, meaning; // `value` as it is written there
};

std::span<const Origin> origins();
std::span<const Row> rows();

// None of that name: nullptr.
const Origin* find_origin(std::string_view name);

} // namespace ptxasw::numbers
