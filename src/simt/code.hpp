// A kernel compiled for the interpreter: flat instructions whose operands are rows of 32 lane
// values, with everything that does not depend on the launch worked out beforehand.
#pragma once

#include "analysis/cfg.hpp"
#include "ptx/body.hpp"
#include "semantics/concrete.hpp"
#include "semantics/step.hpp"
#include "simt/machine.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::simt {

inline constexpr std::size_t most_operands = 16; // of an instruction, written or read
inline constexpr std::uint32_t nowhere = ~0U;
// A 128-bit value takes two rows, low halves first.
using Row = std::array<std::uint64_t, warp_size>;

struct OperandLocation {
  enum class Base : std::uint8_t { registers, specials, constants, nothing };
  Base base = Base::nothing;
  bool negated = false;   // !p
  std::uint8_t width = 0; // bits
  std::uint32_t row = 0;
};

enum class Kind : std::uint8_t {
  step, // a Step of the semantics
  load,
  store,
  atomic, // atom and red
  copy,   // cp.async: its bytes land when the lane waits
  copy_commit,
  copy_wait,
  branch,
  branch_table,
  call,
  return_,
  exit,
  trap,
  barrier,
  warp_sync, // shfl, vote, match, redux, elect, bar.warp: exchange between lanes
  matrix,    // ldmatrix, mma
  policy,    // createpolicy: a value that only cache hints take
  active_mask,
  nothing, // fences, hints
  unsupported,
};

struct Ins {
  Kind kind = Kind::unsupported;
  ptx::Type type = ptx::Type::none;
  ptx::Space space = ptx::Space::generic;
  std::uint8_t elements = 1, element_bytes = 0; // of a memory access
  bool guard_negated = false;
  bool reads_clock = false;
  bool plain = false; // a step with one result and one to three sources, none wide or negated
  bool approximate = false;
  bool only_leaves = false;      // from here on nothing is done but to return
  std::uint32_t guard = nowhere; // row of the predicate
  ptx::Slice dst, src;           // into Code::places
  OperandLocation address;       // of a memory access
  std::int64_t offset = 0;
  std::int64_t copy_offset = 0;       // of a copy's destination, whose base is the first source
  std::uint64_t data_offset = 0;      // of a store: to be added to its only source
  std::uint64_t groups_left = 0;      // of a copy_wait: this many may still be on their way,
  bool all_copies = false;            // or none, those included that no group has yet
  ptx::Slice targets;                 // into Code::targets; of a call: its index in Code::calls
  std::uint32_t loop = nowhere;       // innermost one around the instruction: into Code::loops
  bool loop_header = false;           // the loop begins here
  std::uint32_t reconverge = nowhere; // of a branch: where its immediate post-dominator begins
  std::uint32_t sync_key = 0;     // warp_sync, matrix: instructions that may meet have equal keys
  std::uint32_t callee = nowhere; // into Program::codes, if it is known
  sem::Step<sem::ConcreteDomain> step = nullptr;
  const sem::Operation* operation = nullptr;
  const ptx::Inst* inst = nullptr;
};

// A symbol on the thread's stack (local variables, parameters of functions and calls): its address
// is put into a row when the frame is made.
struct StackSymbol {
  std::uint32_t row = 0;
  std::uint64_t offset = 0;
};

struct Parameter {
  std::uint64_t offset = 0; // on the stack of a function, in the parameter space of a kernel
  std::uint64_t size = 0;
  std::uint32_t row = nowhere; // .reg parameters
};

// An argument or result of a call, on the caller's side.
struct CallValue {
  OperandLocation place;         // register or immediate
  std::uint32_t stack = nowhere; // offset on the caller's stack, for .param variables
  std::uint64_t size = 0;
};
struct CallSite {
  std::vector<CallValue> results, arguments;
  OperandLocation target; // of an indirect call
  std::string name;
};

struct CodeLoop {
  std::uint32_t parent = nowhere;
};

struct Code {
  ptx::Body body;
  std::vector<Ins> insts;
  std::vector<OperandLocation> places;
  std::vector<std::uint32_t> targets;
  std::vector<CodeLoop> loops; // outer ones first
  std::vector<Row> constants;
  std::vector<sem::Operation> operations;
  std::vector<CallSite> calls;
  std::vector<StackSymbol> stack_symbols;
  std::vector<Parameter> parameters, returns;
  std::vector<std::uint64_t> garbage; // per row (registers, stack symbols): what it holds at first
  std::uint64_t stack_size = 0;
  bool external = false; // no body: known only by name
  std::string name;

  [[nodiscard]] std::span<const OperandLocation> src(const Ins& ins) const {
    return std::span(places).subspan(ins.src.first, ins.src.count);
  }
  [[nodiscard]] std::span<const OperandLocation> dst(const Ins& ins) const {
    return std::span(places).subspan(ins.dst.first, ins.dst.count);
  }
  // Is `loop` the same as `inner` or around it?
  [[nodiscard]] bool encloses(std::uint32_t loop, std::uint32_t inner) const {
    while (inner != nowhere && inner != loop)
      inner = loops[inner].parent;
    return inner == loop;
  }
};

// Variables that stand in memory before the launch.
struct Initial {
  std::string name;
  std::uint64_t base = 0;
  std::vector<std::uint8_t> data;
};

class Program {
public:
  std::shared_ptr<const ptx::Module> module;
  const ptx::Function* kernel = nullptr;
  std::vector<std::unique_ptr<Code>> codes;       // the kernel first
  std::map<std::uint32_t, std::uint32_t> code_of; // by index into Module::functions
  std::vector<ptx::Special> specials;             // rows of every warp
  std::vector<Initial> globals;                   // .global variables of the module
  std::vector<std::uint8_t> constants;            // the constant space
  std::uint64_t static_shared = 0;                // bytes
  std::uint64_t dynamic_shared_offset = 0;        // where .extern .shared begins
  std::uint64_t parameter_size = 0;
  std::vector<std::string> warnings;
};

// What a special register is in one thread of a block, where that says it.
std::optional<std::uint64_t> special_of_thread(ptx::Special special, std::uint64_t thread,
                                               const Dim3& block);

// "file.ptx:12" of an instruction, for messages.
std::string place_of(const Program& program, const ptx::Inst& inst);
// The instruction as it is written: "ld.global.f32 %f1, [%rd4]".
std::string text_of(const Program& program, const ptx::Inst& inst);

// A function's address as a value, and back.
constexpr std::uint64_t function_base = std::uint64_t{1} << 40;
constexpr std::uint64_t function_address(std::uint32_t index) {
  return function_base + std::uint64_t{index} * 256;
}

} // namespace ptxasw::simt
