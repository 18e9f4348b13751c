// Runs a PTX kernel on the CPU: grids, blocks, warps of 32 lanes, memory, barriers.
//
//   auto program = simt::compile(module, "kernel");        // once
//   simt::Memory memory;                                    // buffers
//   simt::Launch launch{.grid = {4}, .block = {128}, .arguments = {simt::value(pointer), ...}};
//   simt::Result result = simt::run(*program, launch, memory);
//
// What a GPU leaves undefined is reported, not executed: the launch stops with a message that names
// the instruction and the thread. Lanes reconverge at immediate post-dominators, or run under any
// other legal schedule that is asked for.
#pragma once

#include "ptx/body.hpp"
#include "simt/memory.hpp"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::simt {

inline constexpr unsigned warp_size = 32;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

// One kernel argument: the bytes of its parameter.
struct Argument {
  std::vector<std::uint8_t> bytes;
};
// A number or pointer; the machine takes as many low bytes as the parameter has.
Argument value(std::uint64_t bits);
Argument value(float number);
Argument value(double number);

// In which order threads take their steps.
struct Schedule {
  enum class Kind : std::uint8_t {
    lockstep,    // all lanes of a warp together, reconverging at immediate post-dominators
    independent, // random groups of lanes of random warps, a few steps each
    one_lane,    // one lane as far as it comes, then the next
  };
  Kind kind = Kind::lockstep;
  std::uint64_t seed = 0; // of random choices; also orders the blocks unless it is 0
  unsigned resident = 1;  // blocks that take turns
  // Lanes that run apart may meet again at any instruction, but as a rule only in the same trips of
  // all loops around it: hardware joins lanes where they parted. With this they may also meet in
  // different trips, which the PTX ISA does not rule out.
  bool across_iterations = false;
  // "--schedule=independent --seed=7 --resident=2", for `ptxasw run`.
  [[nodiscard]] std::string options() const;
};

// One request of a warp to memory, as the observer sees it.
struct Access {
  enum class Kind : std::uint8_t { load, store, atomic };
  Kind kind = Kind::load;
  ptx::Space space = ptx::Space::generic; // where the first lane's address lies: never generic
  const ptx::Inst* inst = nullptr;
  Dim3 block;                                   // %ctaid
  std::uint32_t warp = 0;                       // in the block
  std::uint32_t mask = 0;                       // lanes that take part
  unsigned bytes = 0;                           // per lane
  std::span<const std::uint64_t, 32> addresses; // by lane: generic addresses
};
using Observer = std::function<void(const Access&)>;

struct Launch {
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;
  std::vector<Argument> arguments;
  Schedule schedule = {};
  std::uint64_t budget = std::uint64_t{1} << 30; // warp instructions, then the launch is stopped
  bool report_undefined = false; // stop when an undefined value reaches global memory, an address
                                 // or a branch
  bool report_races = false;     // stop when two threads touch a byte without order between them
  bool coverage = false;         // fill Result::coverage
  Observer observer = {};
};

struct Counts {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t global_load_requests = 0, global_load_sectors = 0; // sectors of 32 bytes
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t global_writes = 0;          // stores and atomics
  std::uint64_t shuffles = 0, barriers = 0; // warp requests
};

struct Result {
  enum class Status : std::uint8_t {
    ok,
    undefined,   // the kernel did something that has no defined outcome
    unsupported, // it used an instruction that the machine has no meaning for
    trapped,
    budget,
    bad_launch, // shape or arguments do not fit the kernel
  };
  Status status = Status::ok;
  std::string message; // empty when ok
  Counts counts;
  std::string printed;      // by vprintf
  bool approximate = false; // an approximate instruction ran: bits differ from a GPU's
  // If asked for, by instruction of the kernel's body: the most lanes of one warp that executed it
  // together.
  std::vector<std::uint8_t> coverage;
  [[nodiscard]] bool ok() const { return status == Status::ok; }
};
std::string_view name(Result::Status status);

// A kernel ready to run, with all functions that it calls. Immutable; any number of threads may run
// it at once. Keeps the module alive.
class Program;
using ProgramPtr = std::shared_ptr<const Program>;
tl::expected<ProgramPtr, std::string> compile(std::shared_ptr<const ptx::Module> module,
                                              std::string_view kernel);

// Variables of the module (.global) appear in `memory` under their names, made on the first run.
Result run(const Program& program, const Launch& launch, Memory& memory);

} // namespace ptxasw::simt
