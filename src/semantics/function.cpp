// Functions as keys, for hash-consing, and as names, for people.
#include "semantics/domain.hpp"

#include <array>
#include <string_view>

namespace ptxasw::sem {

namespace {

constexpr std::array<std::string_view, 28> names{
    "popc", "clz", "brev", "fns", "add",      "sub",   "mul",    "fma",     "div",       "sqrt",
    "min",  "max", "neg",  "abs", "copysign", "eq",    "lt",     "le",      "unordered", "round",
    "cvt",  "cvt", "cvt",  "cvt", "cvt",      "testp", "window", "isspacep"};
static_assert(names.size() == static_cast<std::size_t>(Fn::in_window) + 1);

constexpr std::array<std::string_view, 11> rounding_names{
    "", ".rn", ".rz", ".rm", ".rp", ".rna", ".rs", ".rni", ".rzi", ".rmi", ".rpi"};
static_assert(rounding_names.size() == static_cast<std::size_t>(ptx::Rounding::rpi) + 1);

constexpr std::array<std::pair<ptx::Sub, std::string_view>, 6> classes{
    {{ptx::Sub::finite, ".finite"},
     {ptx::Sub::infinite, ".infinite"},
     {ptx::Sub::number, ".number"},
     {ptx::Sub::notanumber, ".notanumber"},
     {ptx::Sub::normal, ".normal"},
     {ptx::Sub::subnormal, ".subnormal"}}};

} // namespace

std::uint64_t Function::key() const {
  const auto byte = [](auto e) { return static_cast<std::uint64_t>(e) & 0xff; };
  const std::uint64_t flags = (ftz ? 1U : 0U) | (sat ? 2U : 0U) | (satfinite ? 4U : 0U) |
                              (nan ? 8U : 0U) | (xorsign ? 16U : 0U) | (abs ? 32U : 0U) |
                              (relu ? 64U : 0U);
  return byte(fn) | byte(to) << 8 | byte(from) << 16 | byte(rounding) << 24 | byte(sub) << 32 |
         byte(space) << 40 | flags << 48;
}

Function Function::from_key(std::uint64_t key) {
  const auto byte = [key](unsigned i) { return static_cast<std::uint8_t>(key >> (8 * i)); };
  const unsigned flags = byte(6);
  return {.fn = static_cast<Fn>(byte(0)),
          .to = static_cast<ptx::Type>(byte(1)),
          .from = static_cast<ptx::Type>(byte(2)),
          .rounding = static_cast<ptx::Rounding>(byte(3)),
          .ftz = (flags & 1U) != 0,
          .sat = (flags & 2U) != 0,
          .satfinite = (flags & 4U) != 0,
          .nan = (flags & 8U) != 0,
          .xorsign = (flags & 16U) != 0,
          .abs = (flags & 32U) != 0,
          .relu = (flags & 64U) != 0,
          .sub = static_cast<ptx::Sub>(byte(4)),
          .space = static_cast<ptx::Space>(byte(5))};
}

std::string Function::name() const {
  std::string s(names[static_cast<std::size_t>(fn)]);
  s += rounding_names[static_cast<std::size_t>(rounding)];
  for (const auto& [which, text] : classes)
    if (which == sub) s += text;
  if (ftz) s += ".ftz";
  if (nan) s += ".NaN";
  if (xorsign) s += ".xorsign";
  if (abs) s += ".abs";
  if (relu) s += ".relu";
  if (sat) s += ".sat";
  if (satfinite) s += ".satfinite";
  const auto append = [&s](std::string_view part) {
    s += '.';
    s += part;
  };
  if (space != ptx::Space::generic) append(ptx::name(space));
  if (to != ptx::Type::none) append(ptx::name(to));
  if (from != ptx::Type::none && from != to) append(ptx::name(from));
  return s;
}

} // namespace ptxasw::sem
