// Emits trees in registers. The fast path is a copy of the text, statement by
// statement, on the same registers: a thread runs one of the two.
#include "passes/warp_reduce/emit.hpp"

#include "passes/shared/bindings.hpp"
#include "passes/warp_reduce/known_width.hpp"
#include "ptx/build.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace ptxasw::passes {

using ptx::Code;
using ptx::Inst;
using ptx::InstId;
using ptx::Reg;
using ptx::Special;
using namespace ptx::words;

namespace {

// Copies of a loop's body one after another: 16, 8, 4, 2, 1, perhaps behind one
// for 32. The last one is a loop. Or 1, 2, 4, 8, 16, and behind these, in
// memory, 32 to 512: blocks have 1024 threads at most.
constexpr unsigned unrolled = 5, wider = 5;

using BlockShape = std::array<std::uint32_t, 3>;

// One stretch.
class TreeWriter {
public:
  TreeWriter(const emulator::Kernel& kernel, const TreeReduction& rounds,
             ptx::FreshRegisters& registers, const Names& names, std::string prefix)
      : k_(kernel), body_(kernel.body), module_(*kernel.body.module), r_(rounds), names_(names),
        prefix_(std::move(prefix)), code_(registers) {
    for (const TreeAccess& access : r_.accesses)
      accesses_.emplace(inst_of(access.event), &access);
    for (const TreeAccess& access : r_.rest)
      accesses_.emplace(inst_of(access.event), &access);
    for (std::size_t cell = 0; cell < r_.cells.size(); ++cell)
      values_.push_back(code_.make(type_of(cell)));
  }

  // All edits but the declarations.
  std::vector<ptx::Edit> run(const BlockShape& block) {
    code_.comment("ptxasw: steps of a tree within a warp, in registers");
    choose_path(block);
    load_elements();
    copy_steps();
    if (r_.grows) copy_wider_steps();
    code_.label(label("end"));
    if (r_.rest_copied) {
      copy_rest();
    } else {
      store_elements(!r_.own_behind);
      code_.bra_uni(label("done"));
    }
    code_.label(label("slow"));
    const std::uint32_t begin = entry(), end = ptx::range_of(body_, r_.end - 1).end;
    edits_.push_back({{begin, begin}, code_.behind()});
    edits_.push_back({{end, end}, fmt::format("\n{}:", label("done"))});
    return std::move(edits_);
  }

private:
  // A copy of statements. Their accesses to elements are in registers, but for
  // the original's.
  struct Copy {
    std::string prefix, next;   // of its labels; the label of the next iteration
    std::uint32_t width = 0;    // that the iteration begins with; 0: not known
    bool is_original = false;   // as it was, in memory
    bool is_rest = false;       // of what follows the stretch
    bool far_in_memory = false; // what this first step reads of others stays in memory
  };

  [[nodiscard]] InstId inst_of(std::size_t event) const { return k_.trace.events[event].inst; }
  [[nodiscard]] ptx::Range target_of(InstId branch) const {
    return module_.operands_of(ptx::syntax_of(body_, body_.insts[branch])).front().range;
  }
  [[nodiscard]] std::string label(std::string_view name) const {
    return fmt::format("{}{}", prefix_, name);
  }
  [[nodiscard]] ptx::Type type_of(std::size_t cell) const {
    return ptx::bits(8 * r_.cells[cell].bytes);
  }
  [[nodiscard]] ptx::Source width() const {
    if (r_.width_register == ptx::none) return r_.width;
    return names_.reg(r_.width_register);
  }
  // Labels in front of the first instruction belong to the path that is as it
  // was.
  [[nodiscard]] std::uint32_t first_statement() const { return body_.insts[r_.begin].statement; }

  // Of a loop, behind the label by which it is entered; of others, behind the
  // barrier in front.
  [[nodiscard]] std::uint32_t entry() const {
    std::uint32_t at = first_statement() - 1;
    if (r_.rolled)
      while (module_.statements[at].kind != ptx::StatementKind::label)
        --at;
    return module_.statements[at].range.end;
  }

  // --- Which path
  // ------------------------------------------------------------------------------

  void choose_path(const BlockShape& block) {
    // In blocks that come by the width the wider iterations ask for it, in a
    // copy.
    const bool asks_apart = r_.rolled && !r_.grows && block[0] == 0;
    if (asks_apart) leave_unless_power();
    Reg slow = block[0] == 0 ? wrong_shape() : Reg{};
    if (asks_apart) {
      code_.into(slow).setp(lt, u32, width(), r_.first_width(), or_, slow);
      code_.when(slow).bra_uni(label("slow"));
      copy_wider_iterations();
    } else if (r_.rolled) {
      if (!r_.grows) code_.label(label("again"));
      slow = code_.setp(ne, u32, width(), r_.first_width(), or_, slow);
    }
    const std::string back = label(r_.grows || asks_apart ? "slow" : "again");
    for (InstId i = r_.begin; r_.rolled && i < r_.end; ++i)
      if (goes_back(i)) edits_.push_back({target_of(i), back});
    if (!asks_apart && !slow.empty()) code_.when(slow).bra(label("slow"));
  }

  // The block is none that the tree is proven for.
  Reg wrong_shape() {
    Reg wrong;
    const Reg x = code_.special(Special::ntid_x);
    if (r_.rows) {
      wrong = code_.setp(ne, u32, x, 32);
      wrong = code_.setp(ne, u32, code_.special(Special::ntid_z), 1, or_, wrong);
    } else {
      const Reg y = code_.special(Special::ntid_y), z = code_.special(Special::ntid_z);
      code_.into(x).and_(b32, x, 31);
      code_.into(y).mul(u32, y, z);
      wrong = code_.setp(ne, u32, x, 0);
      wrong = code_.setp(ne, u32, y, 1, or_, wrong);
    }
    if (r_.most_threads == 0) return wrong;
    return code_.setp(gt, u32, code_.special(Special::ntid_x), r_.most_threads, or_, wrong);
  }

  // No other width comes by the first one when it is halved. For speed alone,
  // so first and by itself: blocks of 200 threads notice each instruction.
  void leave_unless_power() {
    const Reg less = code_.sub(u32, width(), 1);
    code_.into(less).and_(b32, less, width());
    code_.when(code_.setp(ne, u32, less, 0)).bra_uni(label("slow"));
  }

  // Other blocks run the loop as it was.
  void copy_wider_iterations() {
    code_.label(label("again"));
    code_.when(code_.setp(eq, u32, width(), r_.first_width())).bra_uni(label("fast"));
    copy_region({.prefix = label("wider_"), .next = label("again"), .is_original = true});
    code_.bra_uni(label("done"));
    code_.label(label("fast"));
  }

  [[nodiscard]] bool goes_back(InstId i) const {
    const Inst& inst = body_.insts[i];
    return inst.op == ptx::Op::bra && body_.targets_of(inst)[0] == r_.begin;
  }

  // --- Elements
  // --------------------------------------------------------------------------------

  void load_elements() {
    if (r_.barrier_first) code_.statement(module_.slice(ptx::range_of(body_, r_.barriers[0])));
    // A loop's width is then known to ptxas from here on.
    if (r_.rolled) code_.into(names_.reg(r_.width_register)).mov(u32, r_.first_width());
    const ptx::Predicate accessed = r_.everywhere ? ptx::Predicate{} : find_owners();
    for (std::size_t cell = 0; cell < values_.size(); ++cell) {
      if (!r_.everywhere) code_.into(values_[cell]).mov(type_of(cell), 0);
      code_.when(accessed).into(values_[cell]).ld(ptx::Space::shared, type_of(cell), own(cell));
    }
  }

  // Only threads of the first warp have elements. Those whose elements are
  // accessed.
  Reg find_owners() {
    const Reg t = code_.special(Special::tid_x);
    stored_ = code_.setp(lt, u32, t, r_.first_width());
    const Reg accessed = code_.setp(lt, u32, t, r_.lanes());
    if (r_.others_may_skip) code_.when(code_.setp(ge, u32, t, 32)).bra(label("end"));
    return accessed;
  }

  void store_elements(bool wait) {
    for (std::size_t cell = 0; cell < values_.size(); ++cell)
      code_.when(stored_).st(ptx::Space::shared, type_of(cell), own(cell), values_[cell]);
    if (wait) code_.statement(module_.slice(ptx::range_of(body_, r_.barriers.back())));
  }

  // [%r4+8]
  [[nodiscard]] ptx::Memory own(std::size_t cell) const {
    const ptx::Address& address = body_.addr(body_.insts[inst_of(r_.cells[cell].event)])[0];
    return {names_.reg(address.base.id), address.offset};
  }

  // --- Copies of the stretch
  // -------------------------------------------------------------------

  void copy_steps() {
    const unsigned wide = r_.rolled && r_.wide ? 1 : 0;
    const unsigned copies = r_.rolled ? unrolled + wide : 1;
    for (unsigned n = 0; n < copies; ++n) {
      Copy copy{.prefix = fmt::format("{}{}_", prefix_, n),
                .next = fmt::format("{}{}_top", prefix_, std::min(n + 1, copies - 1))};
      if (r_.grows && n + 1 == copies) copy.next = label("wide");
      code_.label(copy.prefix + "top");
      if (r_.rolled && r_.combined != ptx::none && n == wide) return combine(copy);
      copy.far_in_memory = n < wide;
      copy.width = r_.grows ? 1U << n : 0;
      if (!is_combined(r_.begin)) shuffle(r_.begin, copy);
      copy_region(copy);
      if (n + 1 < copies || r_.grows) code_.bra(label("end")); // out of the loop
    }
  }

  // Wider steps are of several warps: they are as they were, but that ptxas
  // knows their widths.
  void copy_wider_steps() {
    code_.label(label("wide"));
    store_elements(true);
    for (unsigned n = 0; n < wider; ++n) {
      const std::string here = fmt::format("{}wide_{}_", prefix_, n);
      code_.label(here + "top");
      copy_region(
          {.prefix = here,
           .next = n + 1 < wider ? fmt::format("{}wide_{}_top", prefix_, n + 1) : label("slow"),
           .width = 32U << n,
           .is_original = true});
      code_.bra(label("done"));
    }
  }

  void copy_region(const Copy& copy) {
    InstId inst = r_.begin;
    for (std::uint32_t s = first_statement(); s <= body_.insts[r_.end - 1].statement; ++s) {
      if (is_combined(inst)) return combine(copy);
      write(module_.statements[s], inst, copy);
    }
  }

  // To the end of the kernel; what it loads is in the registers still.
  void copy_rest() {
    const Copy copy{.prefix = label("rest_"), .is_rest = true};
    InstId inst = r_.end;
    for (std::uint32_t s = body_.insts[r_.end - 1].statement + 1; s <= body_.insts.back().statement;
         ++s)
      write(module_.statements[s], inst, copy);
  }

  // Of an unrolled tree: here begin the steps that are one operation.
  [[nodiscard]] bool is_combined(InstId inst) const {
    return !r_.rolled && r_.combined != ptx::none && inst == r_.combined_from;
  }

  // The steps from width 16 on: what they leave in lane 0 all lanes have then,
  // and nobody asks for what would be in others.
  void combine(const Copy& copy) {
    const Inst& inst = body_.insts[r_.combined];
    for (const InstId kept : r_.kept)
      write_plain(kept, copy);
    code_.into(values_[0]).redux(inst.op, inst.mods.type, values_[0], -1);
  }

  // What the step that begins at `from` reads of others.
  void shuffle(InstId from, const Copy& copy) {
    moved_.clear();
    const auto next = std::ranges::find_if(r_.barriers, [&](InstId b) { return b >= from; });
    const InstId end = r_.rolled || next == r_.barriers.end() ? r_.end : *next;
    for (const TreeAccess& access : r_.accesses) {
      const InstId inst = inst_of(access.event);
      if (inst < from || inst >= end || access.own() || stays_in_memory(access, copy)) continue;
      Reg& value = moved_[{access.cell, access.distance}];
      if (value.empty()) value = moved(access);
    }
  }

  Reg moved(const TreeAccess& access) {
    const auto shuffled = [&](const Reg& word) {
      return access.by != ptx::none
                 ? code_.shfl(ptx::Sub::down, word, names_.reg(access.by), 31, -1)
                 : code_.shfl(ptx::Sub::down, word, access.distance, 31, -1);
    };
    const Reg& value = values_[access.cell];
    if (value.type == b32) return shuffled(value);
    const Reg low = code_.make(b32), high = code_.make(b32);
    code_.unpack(b64, low, high, value);
    const Reg moved_low = shuffled(low), moved_high = shuffled(high);
    return code_.pack(b64, moved_low, moved_high);
  }

  // --- Statements
  // ------------------------------------------------------------------------------

  void write(const ptx::Statement& statement, InstId& inst, const Copy& copy) {
    switch (statement.kind) {
    case ptx::StatementKind::label:
      code_.label(copy.prefix + std::string(module_.labels[statement.index]));
      break;
    case ptx::StatementKind::instruction: write(inst++, copy); break;
    default: code_.statement(module_.slice(statement.range));
    }
  }

  void write(InstId id, const Copy& copy) {
    const Inst& inst = body_.insts[id];
    const auto access = accesses_.find(id);
    if (access != accesses_.end() && !copy.is_original && !stays_in_memory(*access->second, copy))
      return move(inst, *access->second);
    if (!copy.is_original && std::ranges::find(r_.barriers, id) != r_.barriers.end()) {
      if (!r_.rolled && !is_combined(id + 1)) shuffle(id + 1, copy);
      return;
    }
    if (inst.op != ptx::Op::bra) return write_plain(id, copy);
    const ptx::Range whole = ptx::range_of(body_, id), target = target_of(id);
    code_.statement(names_.text({whole.begin, target.begin}) +
                    label_in(copy, body_.targets_of(inst)[0], target) +
                    names_.text({target.end, whole.end}));
  }

  // Elements that no step stores.
  [[nodiscard]] bool stays_in_memory(const TreeAccess& access, const Copy& copy) const {
    if (r_.rolled) return copy.far_in_memory && access.by != ptx::none;
    return r_.wide && access.distance == r_.width;
  }

  [[nodiscard]] std::string label_in(const Copy& copy, InstId target, ptx::Range written) const {
    if (target == r_.begin) return copy.next;
    if (target == r_.end && !copy.is_rest) return label(copy.is_original ? "done" : "end");
    return copy.prefix + std::string(module_.slice(written));
  }

  void write_plain(InstId id, const Copy& copy) {
    if (const auto divisor = known_divisor(k_, r_, copy.width, id)) return divide(id, *divisor);
    code_.statement(names_.text(ptx::range_of(body_, id)));
  }

  // What is below zero is rounded towards zero.
  void divide(InstId id, std::uint32_t by) {
    const Inst& inst = body_.insts[id];
    const bool rest = inst.op == ptx::Op::rem;
    const int bits = std::countr_zero(by);
    const Reg from = names_.reg(body_.src(inst)[0].id);
    const auto into = code_.into(names_.reg(body_.dst(inst)[0].id));
    if (inst.mods.type == u32) {
      rest ? into.and_(b32, from, by - 1) : into.shr(u32, from, bits);
      return;
    }
    const Reg up = code_.shr(s32, from, 31);
    code_.into(up).and_(b32, up, by - 1);
    const Reg sum = code_.add(s32, from, up);
    if (rest) code_.into(sum).and_(b32, sum, by - 1);
    rest ? into.sub(s32, sum, up) : into.shr(s32, sum, bits);
  }

  void move(const Inst& inst, const TreeAccess& access) {
    const auto guarded = code_.when(names_.guard(inst));
    const Reg& value = values_[access.cell];
    if (k_.trace.events[access.event].kind == emulator::EventKind::store)
      return guarded.move(value, names_.reg(body_.src(inst)[0].id));
    guarded.move(names_.reg(body_.dst(inst)[0].id),
                 access.own() ? value : moved_[{access.cell, access.distance}]);
  }

  const emulator::Kernel& k_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  const TreeReduction& r_;
  const Names& names_;
  std::string prefix_; // of all labels
  Code code_;
  std::vector<ptx::Edit> edits_;
  std::vector<Reg> values_; // by cell
  Reg stored_;              // holds in threads whose elements are stored; none: in all
  std::map<std::pair<std::size_t, unsigned>, Reg> moved_; // in the step at hand
  std::map<InstId, const TreeAccess*> accesses_;
};

bool nameable(const emulator::Kernel& kernel, const Names& names, const TreeReduction& rounds) {
  const auto known = [&](ptx::RegId reg) { return names.known_at(reg, rounds.begin); };
  if (rounds.width_register != ptx::none && !known(rounds.width_register)) return false;
  return std::ranges::all_of(rounds.cells, [&](const Cell& cell) {
    const Inst& inst = kernel.body.insts[kernel.trace.events[cell.event].inst];
    return known(kernel.body.addr(inst)[0].base.id);
  });
}

} // namespace

std::vector<ptx::Edit> reduce_in_registers(const emulator::Kernel& kernel, TreeReductionPlan& plan,
                                           const std::array<std::uint32_t, 3>& block) {
  if (plan.stretches.empty()) return {};
  const ptx::Module& module = *kernel.body.module;
  const Names names(kernel.body);
  std::erase_if(plan.stretches, [&](const TreeReduction& r) {
    return !fits(r, block) || !nameable(kernel, names, r);
  });
  if (plan.stretches.empty()) return {};
  ptx::FreshRegisters registers(module, "%ptxasw_round");
  std::vector<ptx::Edit> edits;
  unsigned number = 0;
  for (const TreeReduction& rounds : plan.stretches) {
    TreeWriter writer(kernel, rounds, registers, names,
                      fmt::format("{}round_{}_", label_prefix(module), number++));
    std::ranges::move(writer.run(block), std::back_inserter(edits));
  }
  edits.push_back(registers.declared_at(names.body_start()));
  return edits;
}

} // namespace ptxasw::passes
