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

// and_ is spelled "and" in PTX.
constexpr std::string_view spelled(std::string_view name) {
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

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
    {"pred", 1},
    {"b8", 8},
    {"b16", 16},
    {"b32", 32},
    {"b64", 64},
    {"b128", 128},
    {"u8", 8, 'u'},
    {"u16", 16, 'u'},
    {"u32", 32, 'u'},
    {"u64", 64, 'u'},
    {"s8", 8, 's'},
    {"s16", 16, 's'},
    {"s32", 32, 's'},
    {"s64", 64, 's'},
    {"u16x2", 32, 'u'},
    {"s16x2", 32, 's'},
    {"u8x4", 32, 'u'},
    {"s8x4", 32, 's'},
    {"f16", 16, 'f'},
    {"f16x2", 32, 'f'},
    {"bf16", 16, 'f'},
    {"bf16x2", 32, 'f'},
    {"tf32", 32, 'f'},
    {"f32", 32, 'f'},
    {"f32x2", 64, 'f'},
    {"f64", 64, 'f'},
    {"e4m3x2", 16},
    {"e5m2x2", 16},
    {"e2m3x2", 16},
    {"e3m2x2", 16},
    {"other", 0},
});
static_assert(types.size() == static_cast<std::size_t>(Type::other) + 1);

const TypeInfo& info(Type type) {
  return types[static_cast<std::size_t>(type)];
}

constexpr auto spaces = std::to_array<std::string_view>(
    {"generic", "reg", "sreg", "const", "global", "local", "param", "shared", "tex", "tmem"});

constexpr auto specials = std::to_array<SpecialInfo>({
    {Special::tid_x, "%tid.x"},
    {Special::tid_y, "%tid.y"},
    {Special::tid_z, "%tid.z"},
    {Special::ntid_x, "%ntid.x"},
    {Special::ntid_y, "%ntid.y"},
    {Special::ntid_z, "%ntid.z"},
    {Special::ctaid_x, "%ctaid.x"},
    {Special::ctaid_y, "%ctaid.y"},
    {Special::ctaid_z, "%ctaid.z"},
    {Special::nctaid_x, "%nctaid.x"},
    {Special::nctaid_y, "%nctaid.y"},
    {Special::nctaid_z, "%nctaid.z"},
    {Special::laneid, "%laneid"},
    {Special::warpid, "%warpid"},
    {Special::nwarpid, "%nwarpid"},
    {Special::smid, "%smid"},
    {Special::nsmid, "%nsmid"},
    {Special::gridid, "%gridid", 64},
    {Special::lanemask_eq, "%lanemask_eq"},
    {Special::lanemask_le, "%lanemask_le"},
    {Special::lanemask_lt, "%lanemask_lt"},
    {Special::lanemask_ge, "%lanemask_ge"},
    {Special::lanemask_gt, "%lanemask_gt"},
    {Special::clock, "%clock"},
    {Special::clock_hi, "%clock_hi"},
    {Special::clock64, "%clock64", 64},
    {Special::globaltimer, "%globaltimer", 64},
    {Special::globaltimer_lo, "%globaltimer_lo"},
    {Special::globaltimer_hi, "%globaltimer_hi"},
    {Special::total_smem_size, "%total_smem_size"},
    {Special::dynamic_smem_size, "%dynamic_smem_size"},
    {Special::aggr_smem_size, "%aggr_smem_size"},
    {Special::warp_size, "WARP_SZ"},
    {Special::clusterid_x, "%clusterid.x"},
    {Special::clusterid_y, "%clusterid.y"},
    {Special::clusterid_z, "%clusterid.z"},
    {Special::nclusterid_x, "%nclusterid.x"},
    {Special::nclusterid_y, "%nclusterid.y"},
    {Special::nclusterid_z, "%nclusterid.z"},
    {Special::cluster_ctaid_x, "%cluster_ctaid.x"},
    {Special::cluster_ctaid_y, "%cluster_ctaid.y"},
    {Special::cluster_ctaid_z, "%cluster_ctaid.z"},
    {Special::cluster_nctaid_x, "%cluster_nctaid.x"},
    {Special::cluster_nctaid_y, "%cluster_nctaid.y"},
    {Special::cluster_nctaid_z, "%cluster_nctaid.z"},
    {Special::cluster_ctarank, "%cluster_ctarank"},
    {Special::cluster_nctarank, "%cluster_nctarank"},
    {Special::is_explicit_cluster, "%is_explicit_cluster", 1},
    {Special::current_graph_exec, "%current_graph_exec", 64},
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
