// Hand-made reports that the golden tests print.
#pragma once

#include "ptxasw/report.hpp"

namespace ptxasw::report::test {

inline AccessReport load(std::uint32_t line, std::uint32_t source_line, std::string address) {
  AccessReport a;
  a.ptx_line = line;
  a.source_line = source_line;
  a.source_file = "/home/hpc/jacobi/jacobi.cu";
  a.space = "global";
  a.qualifiers = ".nc";
  a.address = std::move(address);
  a.lane_stride = 4;
  a.sectors = {4, 5};
  a.access = AccessClass::coalesced;
  return a;
}

inline AccessReport shuffled(AccessReport a, int delta, std::uint32_t from) {
  a.outcome = Outcome::shuffled;
  a.delta = delta;
  a.source_ptx_line = from;
  a.facts = {{FactKind::architectural, "%tid.x < %ntid.x"},
             {FactKind::checked, "%tid.x + 1 + nx*%ctaid.y does not wrap"}};
  a.proof = "normal form";
  return a;
}

// A source, a shuffle, a move, a load that may alias, a column and a store.
inline KernelReport jacobi() {
  const std::string base = "u0 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y";
  KernelReport k;
  k.name = "_Z6jacobiPfPKfii";
  k.ptx_line = 21;
  k.analyzed = k.changed = true;
  k.accesses.push_back(load(45, 12, base + ")"));
  k.accesses.push_back(shuffled(load(52, 12, base + " + 1)"), 1, 45));
  AccessReport moved = load(58, 13, base + ")");
  moved.outcome = Outcome::moved;
  moved.source_ptx_line = 45;
  moved.proof = "Z3";
  k.accesses.push_back(moved);
  AccessReport aliased = load(60, 14, base + " + 2)");
  aliased.qualifiers = "";
  aliased.kept = {Reason::store_between,
                  "store to [%rd12] at line 59 may alias; `__restrict__` on u1 would allow it"};
  k.accesses.push_back(aliased);
  AccessReport column = load(63, 15, "c + 4*nx*%tid.x");
  column.lane_stride.reset();
  column.sectors = {1, 32};
  column.access = AccessClass::vertical;
  column.loop_depth = 1;
  column.kept = {Reason::no_source, "no earlier load holds this value"};
  k.accesses.push_back(column);
  AccessReport store = load(70, 16, "u1 + 4*(%tid.x + %ntid.x*%ctaid.x + nx*%ctaid.y)");
  store.is_store = true;
  store.qualifiers = "";
  k.accesses.push_back(store);
  k.loads = 5;
  k.covered = 2;
  k.shuffling.status = Status::done;
  k.shuffles = 1;
  k.moves = 1;
  k.mean_delta = 1;
  k.milliseconds = 0.84;
  k.solver_queries = 12;
  k.z3_queries = 1;
  return k;
}

inline KernelReport refused() {
  KernelReport k;
  k.name = "histogram";
  k.ptx_line = 90;
  k.analyzed = false;
  k.left_alone = {Reason::call, "calls printf at line 101, which may write any memory"};
  return k;
}

inline Report sample() {
  Report r;
  r.file = "jacobi.ptx";
  r.kernels = {jacobi(), refused()};
  r.messages = {
      {77, 3, "jacobi.ptx:77:3: note: unknown instruction `foo.b32`\n\tfoo.b32 %r1;\n  ^"}};
  r.statements = 412;
  r.opaque_statements = 1;
  r.bytes = 9001;
  r.opaque_bytes = 14;
  r.parse_ms = 0.31;
  r.analyze_ms = 0.84;
  r.print_ms = 0.02;
  return r;
}

} // namespace ptxasw::report::test
