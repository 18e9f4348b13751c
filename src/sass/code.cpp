// Blocks end at branches and begin at their targets; what reaches a block is searched for backward,
// block by block.
#include "sass/code.hpp"

#include "sass/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <optional>
#include <set>
#include <tuple>

namespace ptxasw::sass {
namespace {

constexpr std::size_t instruction_bytes = 16;
constexpr unsigned registers = 256;
constexpr unsigned deepest_call = 4;

// Uniform registers stand behind the others.
unsigned index(bool uniform, unsigned reg) {
  return reg % registers + (uniform ? registers : 0);
}
unsigned index(const Result& result, unsigned part) {
  return index(result.uniform, result.reg + part);
}

} // namespace

Code::Code(std::string_view bytes, const std::vector<LineRow>& rows, unsigned architecture)
    : bytes_(bytes) {
  auto row = rows.begin();
  std::uint32_t line = 0;
  for (std::size_t at = 0; at + instruction_bytes <= bytes.size(); at += instruction_bytes) {
    for (; row != rows.end() && row->address <= at; ++row)
      line = row->line;
    lines_.push_back(
        {decode(*read<std::uint64_t>(bytes, at), *read<std::uint64_t>(bytes, at + 8), architecture),
         line});
    const Instruction& now = lines_.back().instruction;
    if (!unknown_.empty()) continue;
    if (now.operation == Operation::unknown)
      unknown_ = fmt::format("machine instruction {:#x} of line {} is not known", now.opcode, line);
    else if (now.branch.anywhere)
      unknown_ = fmt::format("the jump of line {} may lead anywhere", line);
  }
  if (lines_.empty()) unknown_ = "no machine code";
  find_blocks();
  find_writers();
}

// Where a branch or call leads to; the end if that is not within.
InstructionId Code::target(InstructionId n) const {
  const auto to = std::int64_t{n} + 1 + lines_[n].instruction.branch.distance;
  const bool inside = to >= 0 && to < static_cast<std::int64_t>(lines_.size());
  return inside ? static_cast<InstructionId>(to) : static_cast<InstructionId>(lines_.size());
}

void Code::find_blocks() {
  std::set<InstructionId> starts{0};
  for (InstructionId n = 0; n < lines_.size(); ++n) {
    const Branch& branch = lines_[n].instruction.branch;
    if (branch.jumps) {
      if (target(n) == lines_.size() && unknown_.empty())
        unknown_ = fmt::format("the jump of line {} leaves the function", lines_[n].line);
      starts.insert(target(n));
    }
    if (branch.jumps || branch.leaves) starts.insert(n + 1);
  }
  starts.insert(static_cast<InstructionId>(lines_.size()));
  block_of_.resize(lines_.size());
  for (auto start = starts.begin(); *start < lines_.size(); ++start) {
    const InstructionId end = *std::next(start);
    for (InstructionId n = *start; n < end; ++n)
      block_of_[n] = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back({*start, end, {}});
  }
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    const InstructionId last = blocks_[block].end - 1;
    const Branch& branch = lines_[last].instruction.branch;
    const auto edge = [&](InstructionId to) {
      if (to < lines_.size()) blocks_[block_of_[to]].before.push_back(block);
    };
    if (branch.jumps) edge(target(last));
    if (!branch.leaves) edge(last + 1);
  }
}

void Code::find_writers() {
  writers_.resize(2 * registers);
  for (InstructionId n = 0; n < lines_.size(); ++n) {
    const Instruction& now = lines_[n].instruction;
    if (now.operation == Operation::call) {
      Written written = written_by_callee(n);
      for (const unsigned reg : written.may)
        writers_[reg].push_back(n);
      if (!now.guarded) overwritten_.emplace(n, std::move(written.must));
    }
    for (unsigned k = 0; k < now.result.count; ++k)
      writers_[index(now.result, k)].push_back(n);
  }
}

// From its begin to the first instruction that certainly ends it. All registers may be written, and
// none must be, where it does not stay in there.
Code::Written Code::written_by_callee(InstructionId call, unsigned depth) const {
  Written written;
  const InstructionId begin = target(call);
  InstructionId end = begin; // behind it
  bool ends = false, known = depth < deepest_call;
  for (; end < lines_.size() && !ends; ++end) {
    const Instruction& now = lines_[end].instruction;
    ends = now.branch.ends && now.branch.leaves;
    for (unsigned k = 0; k < now.result.count; ++k)
      written.may.insert(index(now.result, k));
    if (now.operation == Operation::call && known)
      written.may.merge(written_by_callee(end, depth + 1).may);
  }
  known &= ends;
  for (unsigned reg = 0; !known && reg < 2 * registers; ++reg)
    written.may.insert(reg);
  if (known) written.must = written_on_every_path(begin, end);
  return written;
}

// From `begin` to wherever the function ends; what it calls counts for nothing.
std::set<unsigned> Code::written_on_every_path(InstructionId begin, InstructionId end) const {
  using Registers = std::bitset<2 * registers>;
  std::vector<std::optional<Registers>> before(end - begin); // nothing: not reached so far
  Registers at_end = Registers().set();
  std::vector<InstructionId> open;
  const auto reach = [&](InstructionId to, const Registers& with) {
    if (to < begin || to >= end) {
      at_end.reset();
      return;
    }
    std::optional<Registers>& known = before[to - begin];
    const Registers joined = known ? *known & with : with;
    if (known == joined) return;
    known = joined;
    open.push_back(to);
  };
  reach(begin, {});
  while (!open.empty()) {
    const InstructionId n = open.back();
    open.pop_back();
    const Instruction& now = lines_[n].instruction;
    Registers written = *before[n - begin];
    if (now.branch.ends) at_end &= written;
    for (unsigned k = 0; k < now.result.count; ++k)
      if (surely_written(n, index(now.result, k), end)) written.set(index(now.result, k));
    if (now.branch.jumps) reach(target(n), written);
    if (!now.branch.leaves) reach(n + 1, written);
  }
  std::set<unsigned> result;
  for (unsigned reg = 0; reg < 2 * registers; ++reg)
    if (at_end.test(reg)) result.insert(reg);
  return result;
}

// By one of its writers, as seen by `until`: a guarded one counts if `until` has the same guard, or
// if another one in between has the opposite one, all of this in one block, where nothing that
// could change the predicate stands between them.
bool Code::surely_written(InstructionId by, unsigned reg, InstructionId until) const {
  const Instruction& first = lines_[by].instruction;
  if (first.operation == Operation::call) {
    const auto overwritten = overwritten_.find(by);
    return overwritten != overwritten_.end() && overwritten->second.contains(reg);
  }
  if (!first.guarded || reg >= registers) return !first.guarded;
  InstructionId n = by;
  for (; n < until && block_of_[n] == block_of_[by]; ++n) {
    const Instruction& now = lines_[n].instruction;
    if (!is_arithmetic(now) && now.operation != Operation::move) return false;
    for (unsigned k = 0; now.guard == (first.guard ^ 8U) && k < now.result.count; ++k)
      if (index(now.result, k) == reg) return true;
  }
  return n < lines_.size() && block_of_[n] == block_of_[by] &&
         lines_[n].instruction.guard == first.guard;
}

// Goes back from one use, through moves.
struct Code::Search {
  const Code& code;
  std::set<Origin> found;
  struct Want {
    InstructionId at = 0; // what was written before this instruction
    Operand operand;
    friend bool operator<(const Want& x, const Want& y) {
      const auto key = [](const Want& w) {
        return std::tuple(w.at, w.operand.in, w.operand.reg, w.operand.value, w.operand.negated,
                          w.operand.absolute);
      };
      return key(x) < key(y);
    }
  };
  std::set<Want> seen;
  std::vector<Want> open;

  void want(InstructionId at, const Operand& operand) {
    if (seen.insert({at, operand}).second) open.push_back({at, operand});
  }

  void run() {
    while (!open.empty()) {
      const Want now = open.back();
      open.pop_back();
      const auto end = [&](Origin::From from, std::uint64_t value) {
        found.insert({from, value, now.operand.negated, now.operand.absolute});
      };
      switch (now.operand.in) {
      case Operand::In::none: break;
      case Operand::In::zero: end(Origin::From::zero, 0); break;
      case Operand::In::immediate: end(Origin::From::immediate, now.operand.value); break;
      case Operand::In::constant: end(Origin::From::constant, now.operand.value); break;
      default: look_back(now);
      }
    }
  }

  void look_back(const Want& now) {
    const bool uniform = now.operand.in == Operand::In::uniform;
    const auto& all = code.writers(uniform, now.operand.reg);
    std::set<std::uint32_t> visited;
    std::vector<std::pair<std::uint32_t, InstructionId>> blocks{{code.block_of_[now.at], now.at}};
    while (!blocks.empty()) {
      const auto [block, until] = blocks.back();
      blocks.pop_back();
      const InstructionId first = code.blocks_[block].first;
      auto at = std::ranges::lower_bound(all, until);
      bool written = false;
      while (!written && at != all.begin() && *std::prev(at) >= first)
        written = writer(now, *--at, until);
      if (written) continue;
      if (first == 0)
        found.insert({Origin::From::outside, 0, now.operand.negated, now.operand.absolute});
      if (code.blocks_[block].before.empty() && first != 0) // of a function within the section
        found.insert({Origin::From::outside, 1, now.operand.negated, now.operand.absolute});
      for (const std::uint32_t b : code.blocks_[block].before)
        if (visited.insert(b).second) blocks.emplace_back(b, code.blocks_[b].end);
    }
  }

  // Whether nothing earlier can be read at `until`.
  bool writer(const Want& now, InstructionId n, InstructionId until) {
    const Instruction& by = code.lines_[n].instruction;
    const bool negated = now.operand.negated, absolute = now.operand.absolute;
    const unsigned part = now.operand.reg - by.result.reg;
    const bool in_registers = by.b.in == Operand::In::reg || by.b.in == Operand::In::uniform;
    if (by.operation == Operation::move && (part == 0 || in_registers)) {
      Operand source = by.b;
      source.reg += part;
      source.negated = absolute ? negated : source.negated != negated;
      source.absolute = source.absolute || absolute;
      want(n, source);
    } else if (by.operation == Operation::constant) {
      found.insert({Origin::From::constant, by.a.value + 4 * part, negated, absolute});
    } else {
      found.insert({Origin::From::instruction, n, negated, absolute});
    }
    return code.surely_written(n, index(now.operand.in == Operand::In::uniform, now.operand.reg),
                               until);
  }
};

const std::vector<InstructionId>& Code::writers(bool uniform, unsigned reg) const {
  return writers_[index(uniform, reg)];
}

std::vector<Origin> Code::origins(InstructionId at, const Operand& operand) const {
  Search search{*this, {}, {}, {}};
  search.want(at, operand);
  search.run();
  return {search.found.begin(), search.found.end()};
}

std::map<std::string, Code, std::less<>> read_code(std::string_view bytes) {
  const Cubin cubin(bytes);
  const auto rows = line_rows(cubin);
  std::map<std::string, Code, std::less<>> functions;
  for (const Section& section : cubin.sections()) {
    if (!section.name.starts_with(text_prefix)) continue;
    const std::string name(section.name.substr(text_prefix.size()));
    const auto of_function = rows.find(name);
    functions.emplace(name,
                      Code(section.bytes,
                           of_function == rows.end() ? std::vector<LineRow>{} : of_function->second,
                           cubin.architecture()));
  }
  return functions;
}

} // namespace ptxasw::sass
