// The one table of the optimizer's options: names, values, help, and what each sets. Sub-commands,
// the drop-in's --ptxasw-NAME and PTXASW_FLAGS all read it, so they cannot differ.
#include "ptxasw/options.hpp"

#include "contract/sequences.hpp"
#include "words/words.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <type_traits>

namespace ptxasw {
namespace {

template <class Value> struct Choice {
  std::string_view name;
  Value value;
};

constexpr std::array shuffle_modes{Choice<ShuffleMode>{"none", ShuffleMode::none},
                                   Choice<ShuffleMode>{"all", ShuffleMode::all},
                                   Choice<ShuffleMode>{"auto", ShuffleMode::automatic},
                                   Choice<ShuffleMode>{"columns", ShuffleMode::columns}};
constexpr std::array loop_carry_modes{Choice<LoopCarryMode>{"none", LoopCarryMode::none},
                                      Choice<LoopCarryMode>{"all", LoopCarryMode::all},
                                      Choice<LoopCarryMode>{"auto", LoopCarryMode::automatic}};
constexpr std::array warp_reduce_modes{Choice<WarpReduceMode>{"none", WarpReduceMode::none},
                                       Choice<WarpReduceMode>{"all", WarpReduceMode::all},
                                       Choice<WarpReduceMode>{"auto", WarpReduceMode::automatic}};
constexpr std::array emit_modes{Choice<Emit>{"normal", Emit::normal},
                                Choice<Emit>{"check", Emit::check}};
constexpr std::array contractions{Choice<FpContract>{"exact", FpContract::exact},
                                  Choice<FpContract>{"any", FpContract::any}};
constexpr std::array coarsen_grids{Choice<CoarsenGrid>{"kernel", CoarsenGrid::kernel},
                                   Choice<CoarsenGrid>{"host", CoarsenGrid::host},
                                   Choice<CoarsenGrid>{"launcher", CoarsenGrid::launcher}};
constexpr std::array coarsen_orders{
    Choice<CoarsenOrder>{"copies", CoarsenOrder::copies},
    Choice<CoarsenOrder>{"instructions", CoarsenOrder::instructions}};
constexpr std::array efforts{Choice<Effort>{"default", Effort::standard},
                             Choice<Effort>{"thorough", Effort::thorough}};
constexpr std::array switches{Choice<bool>{"", true}, Choice<bool>{"on", true},
                              Choice<bool>{"off", false}};
constexpr std::array<std::string_view, 1> known_assumptions{"no-index-wrap"};

constexpr std::uint64_t megabyte = 1U << 20, largest_megabytes = 1U << 20;

using Error = std::optional<std::string>;

template <auto member, const auto& choices> Error choice(Options& options, std::string_view value) {
  const auto found = std::ranges::find(choices, value, [](const auto& one) { return one.name; });
  if (found != choices.end()) {
    options.*member = found->value;
    return std::nullopt;
  }
  std::string names;
  for (const auto& one : choices)
    if (!one.name.empty()) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
  return fmt::format("'{}' is not one of {}", value, names);
}

Error number(std::uint64_t& into, std::uint64_t least, std::uint64_t most, std::string_view value) {
  const auto parsed = words::number<std::uint64_t>(value);
  if (!parsed || *parsed < least || *parsed > most)
    return fmt::format("'{}' is not a number from {} to {}", value, least, most);
  into = *parsed;
  return std::nullopt;
}

template <auto member, std::uint64_t least, std::uint64_t most, std::uint64_t unit = 1>
Error number(Options& options, std::string_view value) {
  using Member = std::remove_reference_t<decltype(options.*member)>;
  std::uint64_t n = 0;
  if (auto error = number(n, least, most, value)) return error;
  options.*member = static_cast<Member>(n * unit);
  return std::nullopt;
}

// 512, 32x4 or 8x8x4; missing sizes are 1, as in a launch.
Error block_size(Options& options, std::string_view value) {
  std::array<std::uint32_t, 3> size{1, 1, 1};
  const auto parts = words::split(value, 'x');
  for (std::size_t axis = 0; axis < parts.size(); ++axis) {
    std::uint64_t n = 0;
    if (axis == size.size() || number(n, 1, 1024, parts[axis]))
      return fmt::format("'{}' is not a block size such as 512x1x1", value);
    size[axis] = static_cast<std::uint32_t>(n);
  }
  if (std::uint64_t{size[0]} * size[1] * size[2] > 1024)
    return fmt::format("a block of '{}' has more than 1024 threads", value);
  options.block = size;
  return std::nullopt;
}

// "y:8", "y:4,z:2", "none", "auto", "large"
Error coarsen(Options& options, std::string_view value) {
  options.coarsen_large = value == "large";
  options.coarsen_auto = value == "auto" || options.coarsen_large;
  if (options.coarsen_auto) value = "none";
  std::array<unsigned, 3> factors{1, 1, 1};
  for (std::string_view rest = value; value != "none" && !rest.empty();) {
    const std::string_view item = words::take(rest, ",");
    const std::size_t axis = item.empty() ? 3 : std::string_view("xyz").find(item[0]);
    std::uint64_t n = 0;
    if (axis > 2 || item.size() < 3 || item[1] != ':' || number(n, 1, 32, item.substr(2)))
      return fmt::format("'{}' is not a coarsening such as y:8 (axis x, y or z; 1 to 32)", item);
    factors[axis] = static_cast<unsigned>(n);
  }
  if (value.empty() || factors[0] * factors[1] * factors[2] > 64)
    return fmt::format("'{}' makes more than 64 replicas, or none", value);
  options.coarsen = factors;
  return std::nullopt;
}

struct RemapForm {
  std::string_view name;
  RemapKind kind;
  unsigned width, widest; // by default and at most; none: 0
};
constexpr unsigned widest_column = 1U << 20;
constexpr std::array remap_forms{
    RemapForm{"none", RemapKind::none, 0, 0},
    RemapForm{"auto", RemapKind::automatic, 0, 0},
    RemapForm{"column", RemapKind::column, 8, widest_column},
    RemapForm{"zigzag", RemapKind::zigzag, 8, widest_column},
    RemapForm{"swap", RemapKind::swap, 0, 0},
    RemapForm{"linear-column", RemapKind::linear_column, 64, widest_column},
    RemapForm{"linear-zigzag", RemapKind::linear_zigzag, 64, widest_column},
    RemapForm{"thread-swap", RemapKind::thread_swap, 32, 32},
};

// "column:32", "zigzag:4@kernel", "thread-swap", "none"
Error remap(Options& options, std::string_view value) {
  const std::size_t at = value.find('@');
  const std::string_view what = value.substr(0, at);
  const std::size_t colon = what.find(':');
  const auto form = std::ranges::find(remap_forms, what.substr(0, colon), &RemapForm::name);
  const auto wrong = [&] {
    return fmt::format("'{}' is not a remap such as column:32, zigzag:32, swap, "
                       "linear-column:64, linear-zigzag:64, thread-swap:32, auto or none, perhaps "
                       "with @KERNEL behind it",
                       value);
  };
  if (form == remap_forms.end() || (at != value.npos && at + 1 == value.size())) return wrong();
  Remap result{.kind = form->kind,
               .width = form->width,
               .kernel = at == value.npos ? "" : std::string(value.substr(at + 1))};
  if (colon != what.npos) {
    std::uint64_t width = 0;
    if (form->widest == 0 || number(width, 1, form->widest, what.substr(colon + 1))) return wrong();
    result.width = static_cast<unsigned>(width);
  }
  if (result.kind == RemapKind::none && result.kernel.empty())
    options.remaps.clear();
  else
    options.remaps.push_back(std::move(result));
  return std::nullopt;
}

Error steps(Options& options, std::string_view value) {
  std::uint64_t n = 0;
  options.steps_auto = value == "auto";
  if (value != "none" && value != "auto" && (number(n, 3, 15, value) || n % 2 == 0))
    return fmt::format("'{}' is not an odd number of steps from 3 to 15, auto or none", value);
  options.steps = static_cast<unsigned>(n);
  return std::nullopt;
}

Error assume(Options& options, std::string_view value) {
  if (std::ranges::find(known_assumptions, value) == known_assumptions.end())
    return fmt::format("'{}' is not an assumption we know ({})", value,
                       fmt::join(known_assumptions, ", "));
  if (std::ranges::find(options.assumptions, value) == options.assumptions.end())
    options.assumptions.emplace_back(value);
  return std::nullopt;
}

Error registers(Options& options, std::string_view value) {
  std::uint64_t n = 0;
  if (auto error = number(n, 0, 255, value)) return error;
  if (n > 0 && n < 16) return fmt::format("{} registers are too few", n);
  options.coarsen_registers = static_cast<unsigned>(n);
  return std::nullopt;
}

template <auto member> Error text(Options& options, std::string_view value) {
  if (value.empty()) return "a value is missing";
  options.*member = value;
  return std::nullopt;
}

// What is in the file counts, as it is now.
Error sequences(Options& options, std::string_view value) {
  const std::string path(value);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fmt::format("{}: {}", path, std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (const auto seen = contract::decode_seen(text.str()); !seen)
    return fmt::format("{}: {}", path, seen.error());
  options.sequences = text.str();
  return std::nullopt;
}

struct Setter {
  OptionHelp help;
  Error (*set)(Options&, std::string_view value);
};

const std::vector<Setter>& table() {
  static const std::vector<Setter> setters{
      {{"shuffle", "none|all|auto|columns",
        "which covered loads to replace by shuffles: none; all that are proven; auto (the "
        "default), those that pay on the target in every launch; columns, as auto where lanes that "
        "lie a run-time distance apart (the width of an array) always lie far apart"},
       choice<&Options::shuffle, shuffle_modes>},
      {{"loop-carry", "none|auto|all",
        "which values that an iteration of a loop has loaded to carry to the next one in "
        "registers: none, those of loops for which that pays on the target (auto, the default), or "
        "all that are proven"},
       choice<&Options::loop_carry, loop_carry_modes>},
      {{"loop-carry-iterations", "N",
        "write so many iterations of such a loop one after another, 1 to 16, where it can be told "
        "ahead that they all come; 0: as many as are likely to pay (0)"},
       number<&Options::loop_carry_iterations, 0, 16>},
      {{"warp-reduce", "none|auto|all",
        "which steps of tree reductions in shared memory that stay within a warp to do in "
        "registers, without barriers: none, those that save enough of these, or all that are "
        "proven (auto)"},
       choice<&Options::warp_reduce, warp_reduce_modes>},
      {{"coarsen", "none|auto|large|AXIS:N[,AXIS:N]",
        "let one block do the work of N neighbours along an axis, as in y:8 or y:4,z:2, where that "
        "is proven sound; auto has ptxas try several candidates and takes the one that pays most "
        "by a model of the target, if any does and no launch should lose; large, as auto where "
        "most launches are large: small ones may lose some percent (auto)"},
       coarsen},
      {{"coarsen-grid", "kernel|host|launcher",
        "who leaves out the blocks whose work coarsened kernels do with others: the kernel (the "
        "default), a host that divides its grid as the report and the PTX say, or one that rounds "
        "up and passes the original grid as a further parameter"},
       choice<&Options::coarsen_grid, coarsen_grids>},
      {{"coarsen-order", "copies|instructions",
        "straight-line code of coarsened kernels: one copy after another, or each instruction in "
        "all copies (copies)"},
       choice<&Options::coarsen_order, coarsen_orders>},
      {{"coarsen-least-threads", "N",
        "launches of fewer threads run the original body of a coarsened kernel; 0: none does, but "
        "with auto those that would not fill the target (0)"},
       number<&Options::coarsen_least_threads, 0, std::uint64_t{1} << 40>},
      {{"coarsen-registers", "N",
        "hold coarsened kernels to N registers a thread, 16 to 255; 0: as many as ptxas likes (0)"},
       registers},
      {{"remap", "none|auto|KIND[:SIZE][@KERNEL]",
        "let blocks or threads do the work in another order, of every kernel or of one: column:W, "
        "zigzag:W and swap walk the grid of blocks, linear-column:W and linear-zigzag:W "
        "the elements of a linear index, thread-swap:N lets N lanes run along the next axis; auto "
        "proposes (none)"},
       remap},
      {{"variants", "[on|off]",
        "add to the module, for each kernel that has them, entries that are other versions of it, "
        "and a launch contract: ptxasw launch chooses when a kernel is launched; the kernel itself "
        "is not coarsened by auto (off)"},
       choice<&Options::variants, switches>},
      {{"steps", "none|auto|T",
        "add to the module, for each kernel that is a time step of a stencil, an entry that does T "
        "launches of it at once (odd, 3 to 15; where three buffers take turns, the multiple of "
        "three below), and a launch contract: ptxasw launch, or a host, may merge launches "
        "(none)"},
       steps},
      {{"sequences", "FILE",
        "with --steps, add such entries also for sequences of several kernels that a run of the "
        "program launched over and over, as ptxasw launch notes them in "
        "${XDG_CACHE_HOME:-~/.cache}/ptxasw/sequences.json"},
       sequences},
      {{"coarsen-budget", "N",
        "thousands of PTX instructions that --coarsen=auto may have ptxas assemble to try (100)"},
       number<&Options::coarsen_budget, 0, 1'000'000>},
      {{"fewer-blocks", "[on|off]",
        "let rewritten kernels use so many registers that an SM holds fewer blocks at a time; "
        "cooperative launches of as many as fit may then fail (off)"},
       choice<&Options::fewer_blocks, switches>},
      {{"effort", "default|thorough",
        "how much --coarsen=auto has ptxas assemble to choose: one candidate after the other as "
        "long as one may pay, or all of them (default)"},
       choice<&Options::effort, efforts>},
      {{"profile", "FILE",
        "what runs of the program measured (ptxasw launch --profile=FILE): of each kernel that it "
        "knows, the coarsening or order of work that was fastest for the launches that it really "
        "gets, from the size on from which it gains; kernels that never gained, or were never "
        "launched, stay as they are; store:NAME is one that ptxasw profile keep put into the "
        "store"},
       text<&Options::profile>},
      {{"decision-cache", "off|DIR",
        "where the drop-in keeps what --coarsen=auto has decided, so that the next build need not "
        "ask again (${XDG_CACHE_HOME:-~/.cache}/ptxasw)"},
       text<&Options::decision_cache>},
      {{"shuffle-max-delta", "N", "largest lane distance of a shuffle, 0 to 31 (31)"},
       number<&Options::shuffle_max_delta, 0, 31>},
      {{"shuffle-shared", "[on|off]", "also replace loads from shared memory (off)"},
       choice<&Options::shuffle_shared, switches>},
      {{"emit", "normal|check",
        "code for a covered load: check does both and traps when they differ (normal)"},
       choice<&Options::emit, emit_modes>},
      {{"fp-contract", "exact|any",
        "kernels in which ptxas chooses which products it fuses with additions: rewrite them only "
        "with its choice pinned (exact; NaN payloads are not kept), or let the last bit change "
        "(any)"},
       choice<&Options::fp_contract, contractions>},
      {{"paranoid", "[on|off]", "prove everything a second time with Z3, or leave it alone (off)"},
       choice<&Options::paranoid, switches>},
      {{"z3", "[on|off]", "use Z3 where normal forms do not decide (on)"},
       choice<&Options::use_z3, switches>},
      {{"kernel-budget", "MS", "most milliseconds to spend on one kernel (250)"},
       number<&Options::kernel_budget, 1, 3'600'000>},
      {{"memory-budget", "MIB", "most memory to spend, in MiB (256)"},
       number<&Options::memory_budget, 1, largest_megabytes, megabyte>},
      {{"size-limit", "MIB", "larger inputs pass through unread, in MiB (64)"},
       number<&Options::size_limit, 1, largest_megabytes, megabyte>},
      {{"block", "X[xY[xZ]]", "promise: every launch uses this block size"}, block_size},
      {{"assume", "no-index-wrap", "promise: index arithmetic never wraps around"}, assume},
      {{"dump-queries", "DIR", "write every solver query as SMT-LIB"},
       text<&Options::dump_queries>},
      {{"arch", "sm_XX", "target to decide for, instead of the module's"},
       text<&Options::architecture>},
  };
  return setters;
}

} // namespace

const FormerOption* former_option(std::string_view name_value) {
  static constexpr std::array former{
      FormerOption{"rotate-trips", "loop-carry-iterations", "it is --loop-carry-iterations now"},
      FormerOption{"rotate", "loop-carry", "it is --loop-carry now"},
      FormerOption{"rounds", "warp-reduce", "it is --warp-reduce now"},
      FormerOption{"forward", "", "it is gone, since it did not pay"},
      FormerOption{"emit=uniform-branch", "", "it is gone, since it did not pay"},
      FormerOption{"remap=tile", "", "it is gone, since it did not pay"},
      FormerOption{"effort=fast", "effort=default", "it is --effort=default now"},
  };
  const std::string_view name = name_value.substr(0, name_value.find('=')),
                         value_form = name_value.substr(0, name_value.find_first_of(":@"));
  const auto found = std::ranges::find_if(former, [&](const FormerOption& option) {
    return option.before == name || option.before == value_form;
  });
  return found == former.end() ? nullptr : &*found;
}

std::optional<std::string> apply_option(Options& options, std::string_view name_value) {
  if (const FormerOption* former = former_option(name_value)) {
    if (former->now.empty()) return std::nullopt;
    const std::string value(
        former->now.find('=') != former->now.npos ? "" : name_value.substr(former->before.size()));
    return apply_option(options, std::string(former->now) + value);
  }
  const std::size_t equals = name_value.find('=');
  const std::string_view name = name_value.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? "" : name_value.substr(equals + 1);
  const auto found =
      std::ranges::find_if(table(), [&](const Setter& s) { return s.help.name == name; });
  if (found == table().end()) return fmt::format("unknown option '{}'", name);
  if (auto error = found->set(options, value)) return fmt::format("{}: {}", name, *error);
  return std::nullopt;
}

Remap remap_of(const Options& options, std::string_view kernel) {
  Remap general;
  for (auto remap = options.remaps.rbegin(); remap != options.remaps.rend(); ++remap) {
    if (remap->kernel == kernel) return *remap;
    if (remap->kernel.empty() && general.kind == RemapKind::none) general = *remap;
  }
  return general;
}

std::string text_of(const Remap& remap) {
  const auto form = std::ranges::find(remap_forms, remap.kind, &RemapForm::kind);
  std::string text(form->name);
  if (form->widest != 0) text += fmt::format(":{}", remap.width);
  return text;
}

const std::vector<OptionHelp>& option_help() {
  static const std::vector<OptionHelp> help = [] {
    std::vector<OptionHelp> list;
    for (const Setter& setter : table())
      list.push_back(setter.help);
    return list;
  }();
  return help;
}

} // namespace ptxasw
