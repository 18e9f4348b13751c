// Addresses of all accesses of the rounds are taken apart into a base, the thread and the width.
#include "passes/warp_reduce/tree_elements.hpp"

#include "passes/shared/iteration_shift.hpp"

#include <algorithm>
#include <cstdlib>

namespace ptxasw::passes {

using emulator::AtomKind;
using emulator::Event;
using emulator::EventKind;
using ptx::Arg;
using ptx::Inst;
using sym::Term;

bool TreeElements::find(TreeReduction& rounds) {
  return find_cells(rounds) && place(rounds);
}

bool is_of_a_register(const emulator::Kernel& kernel, const Event& access) {
  const Inst& inst = kernel.body.insts[access.inst];
  const bool store = access.kind == EventKind::store;
  const auto value = store ? kernel.body.src(inst) : kernel.body.dst(inst);
  return !access.ordered && access.elements == 1 &&
         (access.element_bytes == 4 || access.element_bytes == 8) && value.size() == 1 &&
         value[0].kind == Arg::Kind::reg &&
         ptx::bit_width(kernel.body.registers[value[0].id].type) == 8 * access.element_bytes;
}

bool limit(TreeReduction& rounds, std::uint64_t elements) {
  if (elements < 32) return false;
  constexpr unsigned all = 1024;
  const auto most = static_cast<unsigned>(std::min<std::uint64_t>(elements, all));
  if (most < all && (rounds.most_threads == 0 || rounds.most_threads > most))
    rounds.most_threads = most;
  return true;
}

bool TreeElements::exist(TreeReduction& rounds, std::size_t cell) {
  const Term own = address(rounds.cells[cell].event);
  const Term first = c_.sub(own, c_.mul(number(strides_[cell]), t_));
  const std::uint32_t symbol = variable(first);
  if (symbol == ptx::none) return false;
  for (const Term atom : c_.atoms(first)) {
    const auto offset = c_.difference(first, c_.extract(atom, 0, 32));
    if (!offset || *offset < 0) return false;
    const std::uint64_t size = k_.body.symbols[symbol].size;
    if (rounds.everywhere) {
      const auto ahead = static_cast<std::uint64_t>(*offset);
      return ahead < size && limit(rounds, (size - ahead) / strides_[cell]);
    }
    const std::uint64_t elements = rounds.lanes();
    return static_cast<std::uint64_t>(*offset) + elements * strides_[cell] <= size;
  }
  return false;
}

bool TreeElements::is_own(const TreeReduction& rounds, ptx::InstId inst) {
  for (std::size_t e = 0; e < k_.trace.events.size(); ++e) {
    const Event& load = event(e);
    if (load.inst != inst || load.kind != EventKind::load || load.space != ptx::Space::shared)
      continue;
    return load.elements == 1 && std::ranges::any_of(rounds.cells, [&](const Cell& cell) {
             return cell.bytes == load.element_bytes && address(cell.event) == address(e);
           });
  }
  return false;
}

// --- Cells -----------------------------------------------------------------------------------

Term TreeElements::address(std::size_t e) {
  return c_.extract(event(e).address, 0, 32); // of shared memory
}

// The stretch does not find it anew in each of its trips.
bool TreeElements::is_fixed(const TreeReduction& r, Term t) const {
  return !r.rolled || IterationShift(k_, loop_).is_fixed(t);
}

bool TreeElements::find_cells(TreeReduction& r) {
  for (std::size_t e = 0; e < k_.trace.events.size(); ++e) {
    const Event& s = event(e);
    if (s.inst < r.begin || s.inst >= r.end || s.kind == EventKind::clobber) continue;
    if (!is_of_a_register(k_, s))
      return refuse("the access at line {} is volatile, a vector or of a part of a register",
                    line(s.inst));
    events_.push_back(e);
    if (s.kind == EventKind::store && !add_cell(r, e)) return false;
  }
  return !r.cells.empty() || refuse("nothing is stored");
}

bool TreeElements::add_cell(TreeReduction& r, std::size_t e) {
  const Term own = address(e);
  for (const Cell& known : r.cells)
    if (address(known.event) == own && known.bytes == event(e).element_bytes) return true;
  const Stride stride = relaxed_.stride(event(e).address);
  const bool steps = stride.kind == Stride::Kind::constant &&
                     stride.bytes >= std::int64_t{event(e).element_bytes} && stride.bytes <= 4096;
  if (steps) {
    const auto bytes = static_cast<unsigned>(stride.bytes);
    const Term base = take_rows(r, e, c_.sub(own, c_.mul(number(bytes), t_)));
    if (base.valid() && (row_ == 0 || row_ >= 32 * std::int64_t{bytes}) &&
        !c_.depends_on(base, t_) && c_.uniformity(base) <= sym::Uniformity::block &&
        is_fixed(r, base) && entered_with(r, e)) {
      r.cells.push_back({e, event(e).element_bytes});
      strides_.push_back(bytes);
      return true;
    }
  }
  return refuse("the store at line {} is not to an element of each thread's own",
                line(event(e).inst));
}

// Without what hangs on the row: as many bytes a row for all cells. Not valid if they differ.
Term TreeElements::take_rows(TreeReduction& r, std::size_t e, Term base) {
  const Term y = k_.trace.special(ptx::Special::tid_y);
  std::int64_t row = 0;
  if (y.valid() && c_.kind(y) == sym::Kind::atom && c_.depends_on(base, y)) {
    const Stride stride = AxisPolynomial(c_, y).stride(event(e).address);
    if (stride.kind != Stride::Kind::constant || stride.bytes <= 0 || stride.bytes > 1 << 16)
      return {};
    row = stride.bytes;
    base = c_.sub(base, c_.mul(number(static_cast<unsigned>(row)), y));
    if (c_.depends_on(base, y)) return {};
  }
  if (!r.cells.empty() && row != row_) return {};
  row_ = row;
  r.rows = row != 0;
  return base;
}

// The address can be named at the beginning: no instruction of the stretch writes its register.
bool TreeElements::entered_with(const TreeReduction& r, std::size_t e) const {
  const auto addresses = k_.body.addr(k_.body.insts[event(e).inst]);
  if (addresses.size() != 1 || addresses[0].base.kind != Arg::Kind::reg) return false;
  return !analysis::written(k_.body, r.begin, r.end, addresses[0].base.id);
}

// In this row and, where there are several, in all of them.
bool TreeElements::lies_apart(std::int64_t bytes, std::int64_t length) const {
  if (row_ == 0) return std::abs(bytes) >= length;
  const std::int64_t within = (bytes % row_ + row_) % row_;
  return within >= length && row_ - within >= length;
}

bool TreeElements::apart(TreeReduction& r) {
  for (std::size_t a = 0; a < r.cells.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const Term one = address(r.cells[a].event), other = address(r.cells[b].event);
      const auto bytes = c_.difference(one, other);
      const std::int64_t stride = std::max(strides_[a], strides_[b]);
      const bool all = r.everywhere && row_ == 0;
      if (bytes && lies_apart(*bytes, (r.wide ? 64 : 32) * stride) &&
          (!all || limit(r, static_cast<std::uint64_t>(std::abs(*bytes) / stride))))
        continue;
      const std::uint32_t first = variable(one), second = variable(other);
      if (!bytes && first != ptx::none && second != ptx::none && first != second) continue;
      return refuse("the arrays at lines {} and {} may overlap", line(event(r.cells[a].event).inst),
                    line(event(r.cells[b].event).inst));
    }
  return true;
}

// The one variable of known size that an address is about.
std::uint32_t TreeElements::variable(Term t) const {
  std::uint32_t found = ptx::none;
  for (const Term atom : c_.atoms(t)) {
    const sym::Atom& info = c_.atom_info(atom);
    if (info.kind != static_cast<std::uint32_t>(AtomKind::symbol)) continue;
    if (found != ptx::none || k_.body.symbols[info.tag].size == 0) return ptx::none;
    found = info.tag;
  }
  return found;
}

// --- Whose element ---------------------------------------------------------------------------

bool TreeElements::place(TreeReduction& r) {
  for (const std::size_t e : events_) {
    TreeAccess access{.event = e};
    if (!whose(r, access))
      return refuse("line {} is about no element that is known", line(event(e).inst));
    r.accesses.push_back(access);
  }
  for (const TreeAccess& access : r.accesses) {
    if (access.own()) continue;
    if (r.rolled && access.by == ptx::none)
      return refuse("line {} reads at a fixed distance", line(event(access.event).inst));
    if (r.width_register == ptx::none && r.width == 0) {
      r.width_register = access.by;
      r.width = access.distance;
    }
    if (r.rolled && access.by != r.width_register)
      return refuse("the tree at line {} read at two distances", line(r.begin));
  }
  r.wide = !r.rolled && r.width == 2 * widest_step;
  if (r.width_register == ptx::none && !r.wide && (r.width == 0 || r.width > widest_step))
    return refuse("the tree at line {} are of several warps", line(r.begin));
  width_ = r.rolled ? width_term_ : number(r.width);
  return true;
}

bool TreeElements::whose(const TreeReduction& r, TreeAccess& access) {
  const bool store = event(access.event).kind == EventKind::store;
  for (std::size_t cell = 0; cell < r.cells.size(); ++cell) {
    if (r.cells[cell].bytes != event(access.event).element_bytes) continue;
    const Term own = where_done(access.event, address(r.cells[cell].event));
    const Term here = where_done(access.event, address(access.event));
    access.cell = cell;
    if (is_at(here, own, cell, number(0))) return true;
    if (store) continue;
    if (const auto bytes = c_.difference(here, own)) {
      if (*bytes <= 0 || *bytes % strides_[cell] != 0 || *bytes / strides_[cell] > 512) continue;
      access.distance = static_cast<unsigned>(*bytes / strides_[cell]);
      return is_at(here, own, cell, number(access.distance));
    }
    if (r.rolled && by_register(r, access, here, own)) return true;
  }
  return false;
}

// Thread 0 may say its element without its number, as compilers do where they know it.
Term TreeElements::where_done(std::size_t e, Term address) const {
  std::vector<Term> facts = k_.facts_at(event(e).block);
  facts.push_back(event(e).guard);
  const Term first = c_.eq(t_, c_.constant(32, 0));
  if (std::ranges::find(facts, first) == facts.end()) return address;
  return c_.substitute(address, {{t_.id, c_.constant(32, 0)}});
}

bool TreeElements::is_at(Term here, Term own, std::size_t cell, Term distance) {
  const Term there = c_.add(own, c_.mul(number(strides_[cell]), distance));
  return there == here && solver_.prove_equal({}, there, here).verdict == sym::Verdict::proved;
}

// A register of 32 bits that holds the distance where the loop is entered, the same for all
// threads of the block.
bool TreeElements::by_register(const TreeReduction& r, TreeAccess& access, Term here, Term own) {
  for (const emulator::Definition& d : k_.trace.definitions) {
    if (!d.at_entry || d.inst != r.begin || c_.width(d.value) != 32 ||
        c_.uniformity(d.value) > sym::Uniformity::block)
      continue;
    if (width_term_.valid() && d.value != width_term_) continue;
    if (!is_at(here, own, access.cell, d.value)) continue;
    access.by = d.reg;
    width_term_ = d.value;
    return true;
  }
  return false;
}

} // namespace ptxasw::passes
