// Emits trees in registers. The fast way is a copy of the text, statement by statement,
// on the same registers: a thread runs one of the two.
#include "passes/warp_reduce/emit.hpp"

#include "passes/shared/meant.hpp"
#include "passes/shared/names.hpp"
#include "passes/shared/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ptxasw::passes {

using passes::RoundAccess;
using passes::Rounds;
using ptx::Arg;
using ptx::Inst;
using ptx::InstId;

namespace {

// Copies of a loop's body one after another: 16, 8, 4, 2, 1, perhaps behind one for 32. The last
// one is a loop. Or 1, 2, 4, 8, 16, and behind these, in memory, 32 to 512.
constexpr unsigned unrolled = 5;

// One stretch.
class Copier {
public:
  Copier(const emulator::Kernel& kernel, const Rounds& rounds, Registers& registers,
         const Names& names, std::string prefix)
      : k_(kernel), body_(kernel.body), module_(*kernel.body.module), r_(rounds),
        registers_(registers), names_(names), prefix_(std::move(prefix)), text_(registers) {
    for (const RoundAccess& access : r_.accesses)
      accesses_.emplace(inst_of(access.event), &access);
    for (const RoundAccess& access : r_.rest)
      accesses_.emplace(inst_of(access.event), &access);
    for (const passes::Cell& cell : r_.cells)
      values_.push_back(registers_.make(fmt::format("b{}", 8 * cell.bytes)));
  }

  // All edits but the declarations.
  std::vector<ptx::Edit> run(const std::array<std::uint32_t, 3>& block) {
    text_.all = "\n\t// ptxasw: rounds within a warp, in registers";
    choose_way(block);
    load();
    const std::uint32_t last = body_.insts[r_.end - 1].statement;
    const unsigned wide = r_.rolled && r_.wide ? 1 : 0;
    const unsigned copies = r_.rolled ? unrolled + wide : 1;
    for (unsigned n = 0; n < copies; ++n) {
      here_ = fmt::format("{}{}_", prefix_, n);
      next_ = fmt::format("{}{}_top", prefix_, std::min(n + 1, copies - 1));
      if (r_.grows && n + 1 == copies) next_ = prefix_ + "wide";
      text_.label(here_ + "top");
      if (r_.rolled && r_.combined != ptx::none && n == wide) {
        combine();
        break;
      }
      far_in_memory_ = n < wide;
      width_ = r_.grows ? 1U << n : 0;
      if (!is_combined(r_.begin)) shuffle(r_.begin);
      copy_stretch();
      if (n + 1 < copies || r_.grows) text_.line("bra \t{}end;", prefix_); // out of the loop
    }
    if (r_.grows) go_on();
    text_.label(prefix_ + "end");
    r_.rest_copied ? copy_rest(last + 1) : store(!r_.own_behind);
    if (!r_.rest_copied) text_.line("bra.uni \t{}done;", prefix_);
    text_.label(prefix_ + "slow");

    // Of a loop, behind the label by which it is entered; of others, behind the barrier in front.
    std::uint32_t at = first_statement() - 1;
    if (r_.rolled)
      while (module_.statements[at].kind != ptx::StatementKind::label)
        --at;
    const std::uint32_t begin = module_.statements[at].range.end;
    const std::uint32_t end = module_.statements[last].range.end;
    edits_.push_back({{begin, begin}, std::move(text_.all)});
    edits_.push_back({{end, end}, fmt::format("\n{}done:", prefix_)});
    return std::move(edits_);
  }

private:
  [[nodiscard]] InstId inst_of(std::size_t event) const { return k_.trace.events[event].inst; }
  [[nodiscard]] std::string width() const {
    return r_.width_register != ptx::none ? names_.name(r_.width_register)
                                          : std::to_string(r_.width);
  }
  // Labels in front of the first instruction belong to the way that is as it was.
  [[nodiscard]] std::uint32_t first_statement() const { return body_.insts[r_.begin].statement; }

  // --- Which way -------------------------------------------------------------------------------

  void choose_way(const std::array<std::uint32_t, 3>& block) {
    const bool apart = r_.rolled && !r_.grows && block[0] == 0;
    if (apart) ask_for_a_power();
    std::string slow;
    const auto unless = [&](const std::string& value, unsigned number) {
      const std::string before = std::exchange(slow, registers_.make("pred"));
      text_.line("setp.ne.u32{} \t{}, {}, {}{};", before.empty() ? "" : ".or", slow, value, number,
                 before.empty() ? "" : ", " + before);
    };
    if (block[0] == 0 && r_.rows) {
      unless(special("%ntid.x"), 32);
      unless(special("%ntid.z"), 1);
    } else if (block[0] == 0) {
      const std::string x = special("%ntid.x"), y = special("%ntid.y"), z = special("%ntid.z");
      text_.line("and.b32 \t{}, {}, 31;", x, x);
      text_.line("mul.lo.u32 \t{}, {}, {};", y, y, z);
      unless(x, 0);
      unless(y, 1);
    }
    if (block[0] == 0 && r_.most_threads != 0) {
      const std::string before = std::exchange(slow, registers_.make("pred"));
      text_.line("setp.gt.u32.or \t{}, {}, {}, {};", slow, special("%ntid.x"), r_.most_threads,
                 before);
    }
    if (apart) {
      text_.line("setp.lt.u32.or \t{0}, {1}, {2}, {0};", slow, width(), r_.first_width());
      text_.line("@{} bra.uni \t{}slow;", slow, prefix_);
      slow.clear();
      ask_apart();
    } else if (r_.rolled) {
      if (!r_.grows) text_.label(prefix_ + "again");
      unless(width(), r_.first_width());
    }
    const std::string back = prefix_ + (r_.grows || apart ? "slow" : "again");
    for (InstId i = r_.begin; r_.rolled && i < r_.end; ++i)
      if (goes_back(i)) edits_.push_back({operands(i).front().range, back});
    if (!slow.empty()) text_.line("@{} bra \t{}slow;", slow, prefix_);
  }

  // No other width comes by the first one when it is halved. For speed alone, so first and by
  // itself: blocks of 200 threads notice each instruction.
  void ask_for_a_power() {
    const std::string less = registers_.make("b32"), no = registers_.make("pred");
    text_.line("sub.u32 \t{}, {}, 1;", less, width());
    text_.line("and.b32 \t{}, {}, {};", less, less, width());
    text_.line("setp.ne.u32 \t{}, {}, 0;", no, less);
    text_.line("@{} bra.uni \t{}slow;", no, prefix_);
  }

  // In blocks that come by the width the wider trips ask, in a copy; other blocks run the loop as
  // it was.
  void ask_apart() {
    const std::string now = registers_.make("pred");
    text_.label(prefix_ + "again");
    text_.line("setp.eq.u32 \t{}, {}, {};", now, width(), r_.first_width());
    text_.line("@{} bra.uni \t{}fast;", now, prefix_);
    copy_as_it_was(prefix_ + "wider_", prefix_ + "again");
    text_.line("bra.uni \t{}done;", prefix_);
    text_.label(prefix_ + "fast");
  }

  [[nodiscard]] bool goes_back(InstId i) const {
    const Inst& inst = body_.insts[i];
    return inst.op == ptx::Op::bra && body_.targets_of(inst)[0] == r_.begin;
  }

  std::string special(std::string_view name) {
    std::string reg = registers_.make("b32");
    text_.line("mov.u32 \t{}, {};", reg, name);
    return reg;
  }

  // --- Memory ----------------------------------------------------------------------------------

  void load() {
    if (r_.barrier_first) text_.line("{}", module_.slice(range_of(r_.barriers[0])));
    // A loop is then known to ptxas from here on.
    if (r_.rolled) text_.line("mov.u32 \t{}, {};", width(), r_.first_width());
    const std::string accessed = r_.everywhere ? "" : few();
    for (std::size_t cell = 0; cell < values_.size(); ++cell) {
      const unsigned bits = 8 * r_.cells[cell].bytes;
      if (!r_.everywhere) text_.line("mov.b{} \t{}, 0;", bits, values_[cell]);
      text_.line("{}ld.shared.b{} \t{}, {};", accessed, bits, values_[cell], own(cell));
    }
  }

  // Only threads of the first warp have elements. "@p " of those that are accessed.
  std::string few() {
    const std::string t = special("%tid.x"), accessed = registers_.make("pred"),
                      stored = registers_.make("pred");
    text_.line("setp.lt.u32 \t{}, {}, {};", stored, t, r_.first_width());
    text_.line("setp.lt.u32 \t{}, {}, {};", accessed, t, r_.lanes());
    if (r_.others_may_skip) {
      const std::string other = registers_.make("pred");
      text_.line("setp.ge.u32 \t{}, {}, 32;", other, t);
      text_.line("@{} bra \t{}end;", other, prefix_);
    }
    stored_ = fmt::format("@{} ", stored);
    return fmt::format("@{} ", accessed);
  }

  void store(bool wait) {
    for (std::size_t cell = 0; cell < values_.size(); ++cell)
      text_.line("{}st.shared.b{} \t{}, {};", stored_, 8 * r_.cells[cell].bytes, own(cell),
                 values_[cell]);
    if (wait) text_.line("{}", module_.slice(range_of(r_.barriers.back())));
  }

  // Wider rounds are of several warps: they are as they were, but that ptxas knows their widths.
  void go_on() {
    constexpr unsigned wider = 5; // 32 to 512: blocks have 1024 threads at most
    text_.label(prefix_ + "wide");
    store(true);
    for (unsigned n = 0; n < wider; ++n) {
      const std::string here = fmt::format("{}wide_{}_", prefix_, n);
      text_.label(here + "top");
      width_ = 32U << n;
      copy_as_it_was(here, n + 1 < wider ? fmt::format("{}wide_{}_top", prefix_, n + 1)
                                         : prefix_ + "slow");
      text_.line("bra \t{}done;", prefix_);
    }
  }

  // In memory. Its labels begin with `here`; the next trip is at `next`.
  void copy_as_it_was(std::string here, std::string next) {
    here_ = std::move(here);
    next_ = std::move(next);
    in_memory_ = true;
    copy_stretch();
    in_memory_ = false;
  }

  void copy_stretch() {
    InstId inst = r_.begin;
    for (std::uint32_t s = first_statement(); s <= body_.insts[r_.end - 1].statement; ++s) {
      if (is_combined(inst)) return combine();
      copy(module_.statements[s], inst);
    }
  }

  // Of an unrolled tree: here begin the rounds that are one operation.
  [[nodiscard]] bool is_combined(InstId inst) const {
    return !r_.rolled && r_.combined != ptx::none && inst == r_.combined_from;
  }

  // The rounds from width 16 on: what they leave in lane 0 all lanes have then, and nobody asks for
  // what would be in others.
  void combine() {
    const Inst& inst = body_.insts[r_.combined];
    for (const InstId kept : r_.kept)
      text_.line("{}", plain(kept));
    text_.line("redux.sync.{}.{} \t{}, {}, -1;", ptx::name(inst.op), ptx::name(inst.mods.type),
               values_[0], values_[0]);
  }

  // To the end of the kernel; what it loads is in the registers still.
  void copy_rest(std::uint32_t first) {
    here_ = prefix_ + "rest_";
    in_rest_ = true;
    InstId inst = r_.end;
    for (std::uint32_t s = first; s <= body_.insts.back().statement; ++s)
      copy(module_.statements[s], inst);
  }

  // "[%r4+8]"
  [[nodiscard]] std::string own(std::size_t cell) const {
    const ptx::Address& address = body_.addr(body_.insts[inst_of(r_.cells[cell].event)])[0];
    return fmt::format("[{}+{}]", names_.name(address.base.id), address.offset);
  }

  // --- The stretch -----------------------------------------------------------------------------

  // What the round that begins at `from` reads of others.
  void shuffle(InstId from) {
    moved_.clear();
    const auto next = std::ranges::find_if(r_.barriers, [&](InstId b) { return b >= from; });
    const InstId end = r_.rolled || next == r_.barriers.end() ? r_.end : *next;
    for (const RoundAccess& access : r_.accesses) {
      const InstId inst = inst_of(access.event);
      if (inst < from || inst >= end || access.own() || stays_in_memory(access)) continue;
      std::string& value = moved_[{access.cell, access.distance}];
      if (!value.empty()) continue;
      const unsigned bits = 8 * r_.cells[access.cell].bytes;
      value = registers_.make(fmt::format("b{}", bits));
      const std::string distance =
          access.by != ptx::none ? names_.name(access.by) : std::to_string(access.distance);
      if (bits == 32) {
        word(value, values_[access.cell], distance);
        continue;
      }
      std::array<std::string, 4> half;
      std::ranges::generate(half, [&] { return registers_.make("b32"); });
      text_.line("mov.b64 \t{{{}, {}}}, {};", half[0], half[1], values_[access.cell]);
      word(half[2], half[0], distance);
      word(half[3], half[1], distance);
      text_.line("mov.b64 \t{}, {{{}, {}}};", value, half[2], half[3]);
    }
  }

  void word(const std::string& to, const std::string& from, const std::string& distance) {
    text_.line("shfl.sync.down.b32 \t{}, {}, {}, 31, -1;", to, from, distance);
  }

  void copy(const ptx::Statement& statement, InstId& inst) {
    switch (statement.kind) {
    case ptx::StatementKind::label:
      text_.label(here_ + std::string(module_.labels[statement.index]));
      break;
    case ptx::StatementKind::instruction: copy(inst++); break;
    default: text_.line("{}", module_.slice(statement.range));
    }
  }

  void copy(InstId id) {
    const Inst& inst = body_.insts[id];
    const auto access = accesses_.find(id);
    if (access != accesses_.end() && !in_memory_ && !stays_in_memory(*access->second))
      return move(inst, *access->second);
    if (!in_memory_ && std::ranges::find(r_.barriers, id) != r_.barriers.end()) {
      if (!r_.rolled && !is_combined(id + 1)) shuffle(id + 1);
      return;
    }
    if (inst.op != ptx::Op::bra) return text_.line("{}", plain(id));
    const ptx::Range whole = range_of(id), target = operands(id).front().range;
    text_.line("{}{}{}", names_.text({whole.begin, target.begin}),
               label(body_.targets_of(inst)[0], target), names_.text({target.end, whole.end}));
  }

  // Elements that no round stores.
  [[nodiscard]] bool stays_in_memory(const RoundAccess& access) const {
    if (r_.rolled) return far_in_memory_ && access.by != ptx::none;
    return r_.wide && access.distance == r_.width;
  }

  std::string plain(InstId id) {
    const auto number = divisor(id);
    return number ? divided(id, *number) : names_.text(range_of(id));
  }

  // What is below zero is rounded towards zero.
  std::string divided(InstId id, std::uint32_t by) {
    const bool rest = body_.insts[id].op == ptx::Op::rem;
    const int bits = std::countr_zero(by);
    const std::string to = names_.text(operands(id)[0].range),
                      from = names_.text(operands(id)[1].range);
    if (body_.insts[id].mods.type == ptx::Type::u32)
      return rest ? fmt::format("and.b32 \t{}, {}, {};", to, from, by - 1)
                  : fmt::format("shr.u32 \t{}, {}, {};", to, from, bits);
    const std::string up = registers_.make("b32"), sum = registers_.make("b32");
    text_.line("shr.s32 \t{}, {}, 31;", up, from);
    text_.line("and.b32 \t{}, {}, {};", up, up, by - 1);
    text_.line("add.s32 \t{}, {}, {};", sum, from, up);
    if (!rest) return fmt::format("shr.s32 \t{}, {}, {};", to, sum, bits);
    text_.line("and.b32 \t{}, {}, {};", sum, sum, by - 1);
    return fmt::format("sub.s32 \t{}, {}, {};", to, sum, up);
  }

  // By what power of two the instruction divides, if that hangs on the width alone: ptxas does not
  // make a shift of it.
  [[nodiscard]] std::optional<std::uint32_t> divisor(InstId id) const {
    const Inst& inst = body_.insts[id];
    const auto src = body_.src(inst);
    if (width_ == 0 || (inst.op != ptx::Op::rem && inst.op != ptx::Op::div) || src.size() != 2 ||
        inst.guard != ptx::none ||
        (inst.mods.type != ptx::Type::u32 && inst.mods.type != ptx::Type::s32))
      return {};
    const auto by = known(src[1], id);
    return by && *by < 1U << 16 && std::has_single_bit(*by) ? by : std::nullopt;
  }

  // What an operand of 32 bits is in the copy at hand: the width as the trip begins with it, and
  // what is made of it on the way.
  [[nodiscard]] std::optional<std::uint32_t> known(const Arg& arg, InstId at) const {
    if (arg.kind == Arg::Kind::imm) return static_cast<std::uint32_t>(arg.value);
    if (arg.kind != Arg::Kind::reg) return {};
    InstId made = ptx::none;
    for (InstId i = r_.begin; i < at; ++i)
      if (analysis::written(body_, i, i + 1, arg.id)) {
        if (made != ptx::none) return {}; // in two places
        made = i;
      }
    if (made == ptx::none)
      return arg.id == r_.width_register ? std::optional(width_) : std::nullopt;
    const Inst& inst = body_.insts[made];
    const auto src = body_.src(inst);
    if (inst.guard != ptx::none || inst.opaque || inst.mods.cc || inst.mods.sat ||
        ptx::bit_width(inst.mods.type) != 32 || ptx::is_float(inst.mods.type) ||
        !k_.cfg.dominates_inst(made, at))
      return {};
    if (inst.op == ptx::Op::mov && src.size() == 1) return known(src[0], made);
    if (src.size() != 2) return {};
    const auto a = known(src[0], made), b = known(src[1], made);
    if (!a || !b) return {};
    switch (inst.op) {
    case ptx::Op::add: return *a + *b;
    case ptx::Op::shl: return *b < 32 ? *a << *b : 0;
    case ptx::Op::mul:
      return inst.mods.half == ptx::Half::lo ? std::optional(*a * *b) : std::nullopt;
    default: return {};
    }
  }

  [[nodiscard]] std::string label(InstId target, ptx::Range written) const {
    if (target == r_.begin) return next_;
    if (target == r_.end && !in_rest_) return prefix_ + (in_memory_ ? "done" : "end");
    return here_ + std::string(module_.slice(written));
  }

  void move(const Inst& inst, const RoundAccess& access) {
    const std::string guard =
        inst.guard == ptx::none
            ? ""
            : fmt::format("@{}{} ", inst.guard_negated ? "!" : "", names_.name(inst.guard));
    const std::string& value = values_[access.cell];
    const bool store = k_.trace.events[access.event].kind == emulator::EventKind::store;
    const std::string to = store ? value : names_.name(body_.dst(inst)[0].id);
    const std::string from = store          ? names_.name(body_.src(inst)[0].id)
                             : access.own() ? value
                                            : moved_[{access.cell, access.distance}];
    text_.line("{}mov.b{} \t{}, {};", guard, 8 * r_.cells[access.cell].bytes, to, from);
  }

  [[nodiscard]] ptx::Range range_of(InstId inst) const {
    return module_.statements[body_.insts[inst].statement].range;
  }
  [[nodiscard]] std::span<const ptx::Operand> operands(InstId inst) const {
    return module_.operands_of(
        module_.instructions[module_.statements[body_.insts[inst].statement].index]);
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  const Rounds& r_;
  Registers& registers_;
  const Names& names_;
  std::string prefix_, stored_; // "@p " of the threads whose elements are stored
  std::string here_, next_; // the prefix of labels in the copy at hand, the label of the next one
  bool in_rest_ = false, in_memory_ = false, far_in_memory_ = false;
  Text text_;
  std::vector<ptx::Edit> edits_;
  std::vector<std::string> values_; // by cell
  std::uint32_t width_ = 0;         // in the copy at hand; 0: not known
  std::map<std::pair<std::size_t, unsigned>, std::string> moved_; // in the round at hand
  std::map<InstId, const RoundAccess*> accesses_;
};

bool nameable(const emulator::Kernel& kernel, const Names& names, const Rounds& rounds) {
  const auto known = [&](ptx::RegId reg) { return names.known_at(reg, rounds.begin); };
  if (rounds.width_register != ptx::none && !known(rounds.width_register)) return false;
  return std::ranges::all_of(rounds.cells, [&](const passes::Cell& cell) {
    const Inst& inst = kernel.body.insts[kernel.trace.events[cell.event].inst];
    return known(kernel.body.addr(inst)[0].base.id);
  });
}

} // namespace

std::vector<ptx::Edit> rounds_in_registers(const emulator::Kernel& kernel, passes::RoundsPlan& plan,
                                           const std::array<std::uint32_t, 3>& block) {
  if (plan.stretches.empty()) return {};
  const ptx::Module& module = *kernel.body.module;
  const Names names(kernel.body);
  std::erase_if(plan.stretches, [&](const Rounds& r) {
    return !passes::fits(r, block) || !nameable(kernel, names, r);
  });
  if (plan.stretches.empty()) return {};
  Registers registers(module, "%ptxasw_round");
  std::vector<ptx::Edit> edits;
  unsigned number = 0;
  for (const Rounds& rounds : plan.stretches) {
    Copier copier(kernel, rounds, registers, names,
                  fmt::format("{}round_{}_", label_prefix(module), number++));
    std::ranges::move(copier.run(block), std::back_inserter(edits));
  }
  edits.push_back({{names.body_start(), names.body_start()}, "\n" + registers.declarations()});
  return edits;
}

} // namespace ptxasw::passes
