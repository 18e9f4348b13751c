// The conditions of strided_elements.hpp in their order.
#include "passes/warp_reduce/strided_elements.hpp"

#include "passes/warp_reduce/round_elements.hpp"
#include "passes/warp_reduce/rounds_behind.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

namespace ptxasw::passes {

using emulator::AtomKind;
using emulator::Event;
using emulator::EventKind;
using ptx::Inst;
using ptx::InstId;
using sym::Term;

namespace {

constexpr std::array widths{1U, 2U, 4U, 8U, 16U};

class Strided {
public:
  Strided(emulator::Kernel& kernel, sym::Solver& solver, Rounds& rounds,
          std::vector<std::size_t>& events)
      : k_(kernel), c_(*kernel.context), solver_(solver), r_(rounds), events_(events),
        t_(kernel.trace.special(ptx::Special::tid_x)),
        threads_(kernel.trace.special(ptx::Special::ntid_x)) {}

  bool find() {
    return threads_.valid() && plain_accesses() && find_thread() && same_for_all() &&
           find_width() && works_for_a_thread() && apart();
  }
  [[nodiscard]] Term width() const { return width_; }

private:
  [[nodiscard]] const Event& event(std::size_t e) const { return k_.trace.events[e]; }
  [[nodiscard]] bool inside(InstId i) const { return i >= r_.begin && i < r_.end; }
  [[nodiscard]] Term number(unsigned n) { return c_.constant(32, n); }

  bool plain_accesses() {
    events_.clear();
    for (std::size_t e = 0; e < k_.trace.events.size(); ++e) {
      const Event& access = event(e);
      if (!inside(access.inst) || access.kind == EventKind::clobber) continue;
      if (!is_of_a_register(k_, access) || k_.body.insts[access.inst].guard != ptx::none)
        return false;
      events_.push_back(e);
    }
    return !events_.empty();
  }

  // --- What tells threads apart ----------------------------------------------------------------

  // The one register that is the thread's number and nothing else.
  bool find_thread() {
    for (InstId i = 0; i < r_.begin; ++i) {
      const auto src = k_.body.src(k_.body.insts[i]);
      if (!stays_from(i) || src[0].kind != ptx::Arg::Kind::special ||
          src[0].special != ptx::Special::tid_x || !is_used(moved_to(i)))
        continue;
      if (r_.thread_register != ptx::none) return false; // two names
      r_.thread_register = moved_to(i);
    }
    return r_.thread_register != ptx::none;
  }

  // A register with the address of the variable.
  ptx::RegId find_array(std::uint32_t symbol) {
    for (InstId i = 0; i < r_.begin; ++i) {
      const auto src = k_.body.src(k_.body.insts[i]);
      if (stays_from(i) && src[0].kind == ptx::Arg::Kind::symbol && src[0].id == symbol)
        return moved_to(i);
    }
    return ptx::none;
  }

  [[nodiscard]] ptx::RegId moved_to(InstId i) const { return k_.body.dst(k_.body.insts[i])[0].id; }

  // A move of something to a register of 32 bits that is written nowhere else, ahead of the loop.
  [[nodiscard]] bool stays_from(InstId i) const {
    const Inst& inst = k_.body.insts[i];
    const auto src = k_.body.src(inst);
    const auto dst = k_.body.dst(inst);
    return inst.op == ptx::Op::mov && !inst.opaque && inst.guard == ptx::none && src.size() == 1 &&
           dst.size() == 1 && dst[0].kind == ptx::Arg::Kind::reg &&
           ptx::bit_width(k_.body.registers[dst[0].id].type) == 32 &&
           k_.cfg.dominates_inst(i, r_.begin) && !analysis::written(k_.body, 0, i, dst[0].id) &&
           !analysis::written(k_.body, i + 1, static_cast<InstId>(k_.body.insts.size()), dst[0].id);
  }

  [[nodiscard]] bool is_used(ptx::RegId reg) const {
    bool used = false;
    for (InstId i = r_.begin; i < r_.end; ++i)
      analysis::for_each_use(k_.body, k_.body.insts[i], [&](ptx::RegId r) { used |= r == reg; });
    return used;
  }

  bool same_for_all() {
    const auto same = [&](ptx::RegId reg) {
      return k_.uniformity.registers[reg] <= analysis::Uniform::block;
    };
    bool fine = true;
    for (InstId i = r_.begin; i < r_.end; ++i) {
      const Inst& inst = k_.body.insts[i];
      for (const ptx::Arg& arg : k_.body.src(inst))
        fine = fine && (arg.kind != ptx::Arg::Kind::special ||
                        analysis::uniformity_of(arg.special) <= analysis::Uniform::block);
      analysis::for_each_use(k_.body, inst, [&](ptx::RegId reg) {
        fine = fine && (reg == r_.thread_register || same(reg) || !is_live(k_, r_.begin, reg));
      });
      analysis::for_each_definition(k_.body, inst, [&](ptx::RegId reg) {
        fine = fine && (same(reg) || (!is_live(k_, r_.begin, reg) && !is_live(k_, r_.end, reg)));
      });
    }
    return fine;
  }

  // --- Elements --------------------------------------------------------------------------------

  Term at(std::size_t e, unsigned width) {
    const Term address = c_.extract(event(e).address, 0, 32); // of shared memory
    return c_.substitute(address, {{width_.id, number(width)}});
  }

  bool find_width() {
    for (const emulator::Definition& d : k_.trace.definitions) {
      if (!d.at_entry || d.inst != r_.begin || c_.width(d.value) != 32 ||
          c_.kind(d.value) != sym::Kind::atom || c_.uniformity(d.value) > sym::Uniformity::block)
        continue;
      width_ = d.value;
      r_.width_register = d.reg;
      if (place()) return true;
      r_.cells.clear();
      r_.accesses.clear();
    }
    return false;
  }

  // Cells by their stores, and which element each access is about.
  bool place() {
    for (const std::size_t e : events_)
      if (event(e).kind == EventKind::store && !add_cell(e)) return false;
    for (const std::size_t e : events_) {
      RoundAccess access{.event = e};
      if (!whose(access)) return false;
      r_.accesses.push_back(access);
    }
    return !r_.cells.empty();
  }

  bool add_cell(std::size_t e) {
    for (const Cell& known : r_.cells)
      if (known.bytes == event(e).element_bytes && is_apart_by(e, known, 0)) return true;
    Cell cell{.event = e, .bytes = event(e).element_bytes};
    const Term base = c_.sub(at(e, 1), c_.mul(number(2 * cell.bytes), t_));
    for (const Term atom : c_.atoms(base)) {
      const sym::Atom& info = c_.atom_info(atom);
      if (info.kind != static_cast<std::uint32_t>(AtomKind::symbol)) return false;
      const auto offset = c_.difference(base, c_.extract(atom, 0, 32));
      if (!offset || *offset < 0 || *offset > 1 << 20) return false;
      cell.symbol = info.tag;
      cell.array = find_array(cell.symbol);
      cell.offset = static_cast<unsigned>(*offset);
    }
    if (cell.array == ptx::none || !is_apart_by(e, cell, 0)) return false;
    r_.cells.push_back(cell);
    return true;
  }

  // At each width, the element that is `of_width` times it further on than the cell's.
  bool is_apart_by(std::size_t e, const Cell& cell, unsigned of_width) {
    const Term first = c_.sub(at(cell.event, 1), c_.mul(number(2 * cell.bytes), t_));
    return std::ranges::all_of(widths, [&](unsigned w) {
      const Term steps = c_.add(c_.mul(number(2 * w), t_), number(of_width * w));
      return at(e, w) == c_.add(first, c_.mul(number(cell.bytes), steps));
    });
  }

  bool whose(RoundAccess& access) {
    for (std::size_t cell = 0; cell < r_.cells.size(); ++cell) {
      if (r_.cells[cell].bytes != event(access.event).element_bytes) continue;
      access.cell = cell;
      if (is_apart_by(access.event, r_.cells[cell], 0)) return true;
      if (event(access.event).kind == EventKind::store) continue;
      access.by = r_.width_register;
      if (is_apart_by(access.event, r_.cells[cell], 1)) return true;
      access.by = ptx::none;
    }
    return false;
  }

  // --- Who works -------------------------------------------------------------------------------

  // Whoever gets to an access of the round works for the thread 2w times its number, which is
  // there.
  bool works_for_a_thread() {
    return std::ranges::all_of(events_, [&](std::size_t e) {
      return std::ranges::all_of(widths, [&](unsigned w) {
        const Term goal = c_.ult(c_.mul(number(2 * w), t_), threads_);
        std::vector<Term> facts;
        for (const Term fact : k_.facts_at(event(e).block))
          facts.push_back(c_.substitute(fact, {{width_.id, number(w)}}));
        return solver_.prove(facts, goal).verdict == sym::Verdict::proved;
      });
    });
  }

  // As many elements as there are threads, in each array.
  bool apart() {
    for (std::size_t a = 0; a < r_.cells.size(); ++a) {
      const Cell& cell = r_.cells[a];
      const std::uint64_t size = k_.body.symbols[cell.symbol].size;
      if (size != 0 && (size <= cell.offset || !limit(r_, (size - cell.offset) / cell.bytes)))
        return false;
      for (std::size_t b = 0; b < a; ++b) {
        const Cell& other = r_.cells[b];
        if (other.symbol != cell.symbol) {
          if (size == 0 || k_.body.symbols[other.symbol].size == 0) return false;
          continue;
        }
        const auto bytes = static_cast<unsigned>(
            std::abs(static_cast<int>(cell.offset) - static_cast<int>(other.offset)));
        if (!limit(r_, bytes / std::max(cell.bytes, other.bytes))) return false;
      }
    }
    return true;
  }

  emulator::Kernel& k_;
  sym::Context& c_;
  sym::Solver& solver_;
  Rounds& r_;
  std::vector<std::size_t>& events_;
  Term t_, threads_, width_;
};

} // namespace

bool find_strided(emulator::Kernel& kernel, sym::Solver& solver, Rounds& rounds,
                  std::vector<std::size_t>& events, Term& width, std::string& why) {
  Rounds found = rounds;
  found.cells.clear();
  found.accesses.clear();
  std::vector<std::size_t> its_events;
  Strided strided(kernel, solver, found, its_events);
  if (!strided.find()) return false;
  found.strided = found.everywhere = true;
  rounds = std::move(found);
  events = std::move(its_events);
  width = strided.width();
  why.clear();
  return true;
}

} // namespace ptxasw::passes
