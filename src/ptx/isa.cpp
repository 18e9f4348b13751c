// Opcodes, types, state spaces and special registers as tables.
#include "ptx/isa.hpp"

#include "ptx/name_table.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::ptx {

namespace {

struct OpInfo {
  std::string_view name;
  Op op = Op::unknown;
  Group group = Group::unknown;
  std::uint8_t results = 0;
};

constexpr auto ops = std::to_array<OpInfo>({
    {"", Op::unknown, Group::unknown, 0},
#define PTX_OP(name, group, results) {spelled(#name), Op::name, Group::group, results},
#include "ptx/ops.def"
#undef PTX_OP
});
constexpr NameTable<ops.size(), 1024> op_names{ops};

const OpInfo& info(Op op) {
  return ops[static_cast<std::size_t>(op)];
}

struct TypeInfo {
  std::string_view name;
  std::uint8_t width = 0;
  char family = 'b'; // b, u, s, f
};
constexpr auto types = std::to_array<TypeInfo>({
    {"", 0},
#define PTX_TYPE(name, width, family) {#name, width, *#family},
#include "ptx/words.def"
    {"other", 0},
});
static_assert(types.size() == static_cast<std::size_t>(Type::other) + 1);

const TypeInfo& info(Type type) {
  return types[static_cast<std::size_t>(type)];
}

constexpr auto spaces = std::to_array<std::string_view>({
    "generic",
#define PTX_SPACE(name) spelled(#name),
#include "ptx/words.def"
});
constexpr auto comparisons = std::to_array<std::string_view>({
    "",
#define PTX_COMPARE(name) #name,
#include "ptx/words.def"
});
constexpr auto roundings = std::to_array<std::string_view>({
    "",
#define PTX_ROUNDING(name) #name,
#include "ptx/words.def"
});
constexpr auto subs = std::to_array<std::string_view>({
    "",
#define PTX_SUB(name) spelled(#name),
#include "ptx/words.def"
});

constexpr auto specials = std::to_array<SpecialInfo>({
#define PTX_SPECIAL(id, name, width) {Special::id, name, width},
#include "ptx/words.def"
    {Special::other, "%reserved_smem_offset_begin"},
    {Special::other, "%reserved_smem_offset_end"},
    {Special::other, "%reserved_smem_offset_cap"},
    {Special::other, "%reserved_smem_offset_0"},
    {Special::other, "%reserved_smem_offset_1"},
});
constexpr NameTable<specials.size(), 256> special_names{specials};

// Families of registers that differ by a number.
constexpr SpecialInfo environment{Special::other, "%envreg"};
constexpr SpecialInfo counter{Special::other, "%pm"};
constexpr SpecialInfo counter64{Special::other, "%pm_64", 64};

// prefix, number below `count`, suffix
bool is_numbered(std::string_view name, std::string_view prefix, unsigned count,
                 std::string_view suffix = {}) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(std::min(suffix.size(), name.size()));
  if (name.empty() || name.size() > 2 || (name.size() == 2 && name[0] == '0')) return false;
  unsigned number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number < count;
}

} // namespace

unsigned bit_width(Type type) {
  return info(type).width;
}
bool is_signed(Type type) {
  return info(type).family == 's';
}
bool is_float(Type type) {
  return info(type).family == 'f';
}
std::string_view name(Type type) {
  return info(type).name;
}
std::string_view name(Space space) {
  return spaces[static_cast<std::size_t>(space)];
}
std::string_view name(Compare compare) {
  return comparisons[static_cast<std::size_t>(compare)];
}
std::string_view name(Rounding rounding) {
  return roundings[static_cast<std::size_t>(rounding)];
}
std::string_view name(Sub sub) {
  return subs[static_cast<std::size_t>(sub)];
}

Op find_op(std::string_view name) {
  const OpInfo* found = op_names.find(ops, name);
  return found == nullptr ? Op::unknown : found->op;
}
std::string_view name(Op op) {
  return info(op).name;
}
Group group(Op op) {
  return info(op).group;
}
bool is_video(Op op) {
  return op >= Op::vadd && op <= Op::vset4;
}
unsigned results(Op op) {
  return info(op).results;
}

const SpecialInfo* find_special(std::string_view name) {
  if (const SpecialInfo* found = special_names.find(specials, name)) return found;
  if (is_numbered(name, "%envreg", 32)) return &environment;
  if (is_numbered(name, "%pm", 8)) return &counter;
  if (is_numbered(name, "%pm", 8, "_64")) return &counter64;
  return nullptr;
}

const SpecialInfo& info(Special special) {
  const auto found = std::ranges::find(specials, special, &SpecialInfo::id);
  return found == specials.end() ? environment : *found;
}

} // namespace ptxasw::ptx
