// What a module says about how its kernels may be launched: the launch contract.
//
// For each kernel with variants the module has a constant, __ptxasw_launch_KERNEL, that names the
// entries that do the same work and how their launches follow from the original's. ptxasw
// --variants writes it, the launcher reads it from the loaded module. CONTRACT.md is its schema.
// Nothing here knows PTX, solvers or the driver.
#pragma once

#include "contract/accesses.hpp"
#include "contract/expression.hpp"

#include <tl/expected.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::contract {

// A reader takes this one alone: what is written down, launcher and entries are of one release.
inline constexpr unsigned version = 20;
inline constexpr std::string_view symbol_prefix = "__ptxasw_launch_";
inline constexpr std::size_t most_bytes = 64 << 10, most_variants = 32, most_parameters = 1024;
inline constexpr unsigned largest_block = 1024; // threads
inline constexpr unsigned most_copies = 64, most_steps = 63, most_step_entries = 16;
inline constexpr unsigned most_accesses = 64;
inline constexpr std::size_t most_sequences = 8, most_stages = 8, most_varying = 8, most_boxes = 16;

enum class Kind : std::uint8_t {
  original,  // the kernel as its compiler made it
  rewritten, // launched as the original: shuffles, merged blocks that return, ...
  coarsened, // with a divided grid
  remapped,  // launched as the original, its work in another order
  reshaped,  // in blocks of another shape: reshape.hpp
};

// Threads of a launch over those that the chip holds at a time, for which gains are stated.
inline constexpr std::array<double, 9> waves{0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};

// Of a divided grid: what becomes of the blocks of the original one that fill no group. All but
// `none` have one parameter more behind the original's: the sizes of the original grid, three u32,
// or what reshape.hpp says.
enum class Rest : std::uint8_t {
  none,       // there are none: the grid has to divide evenly
  hangs_over, // the grid is rounded up, and the last group has fewer blocks to do the work of
  by_itself,  // one axis is divided; behind the groups follow the blocks that fill none, one by one
  reshaped,   // nothing is divided: the threads of all blocks, in blocks of another shape
};

// Predicted: time of the original over time of this.
struct Gain {
  unsigned threads = 0; // of a block
  std::array<double, waves.size()> by_waves{};
  friend bool operator==(const Gain&, const Gain&) = default;
};

struct Variant {
  std::string entry; // name in the module
  std::string name;  // "original", "x:4", "thread-swap:32": what --policy=NAME asks for
  Kind kind = Kind::original;
  // The grid is so many times smaller along x, y, z.
  std::array<unsigned, 3> divide{1, 1, 1};
  Rest rest = Rest::none;
  // Of Rest::reshaped: the block with which it is launched; 0 along an axis along which the
  // original launch has to have a single thread.
  std::array<unsigned, 3> block{};
  std::vector<Gain> gains; // ascending in threads; empty: nothing is known
  // Of remapped ones: the order of their threads. What that gains follows from the accesses.
  Rows rows;
  // The entry waits for all grids in front of it before it does anything (PTX ISA,
  // griddepcontrol.wait), and starts none: behind another such entry in its stream it may be
  // launched to begin ahead of the other's end, with programmatic stream serialization.
  bool waits = false;
  [[nodiscard]] bool takes_grid() const { return rest != Rest::none; }
  [[nodiscard]] bool reshapes() const { return rest == Rest::reshaped; }
  friend bool operator==(const Variant&, const Variant&) = default;
};

// Of the variant's grid along an axis with so many blocks in the original one.
struct Blocks {
  unsigned groups = 0, alone = 0; // the last group may hang over
};
[[nodiscard]] constexpr Blocks blocks_of(const Variant& variant, unsigned axis, unsigned blocks) {
  const unsigned by = variant.divide[axis], left = blocks % by;
  if (variant.rest == Rest::by_itself) return {blocks / by, left};
  return {blocks / by + (left != 0 ? 1U : 0U), 0};
}

// Of a kernel that is a time step: the array that one launch reads from `in` is the one that the
// launch before wrote as `out`, and the other way round. Parts of parameters, 8 bytes each.
struct Swap {
  unsigned in = 0, out = 0;
  friend bool operator==(const Swap&, const Swap&) = default;
};

// Or three arrays: a launch reads old and now and writes next, and in the launch behind it now,
// next and old stand in their places. Parts of parameters.
struct Rotation {
  unsigned old = 0, now = 0, next = 0;
  friend bool operator==(const Rotation&, const Rotation&) = default;
};

// Has to hold of a launch: `value` >= 0.
struct Condition {
  Expression value;
  std::string otherwise; // what is wrong if it does not: one line
  friend bool operator==(const Condition&, const Condition&) = default;
};

// Bytes that the launches of a run touch through a pointer, from its value on: [begin, end).
struct Touched {
  unsigned parameter = 0; // part of one
  bool written = false;
  Expression begin, end;
  friend bool operator==(const Touched&, const Touched&) = default;
};

// Elements of an array, in bytes from the value of its pointer on: begin + sum of n * stride, for
// all 0 <= n < count along each axis.
struct Elements {
  struct Along {
    Expression stride, count;
    friend bool operator==(const Along&, const Along&) = default;
  };
  unsigned bytes = 0; // of each
  Expression begin;
  std::vector<Along> along; // at most three
  friend bool operator==(const Elements&, const Elements&) = default;
};

// A variable of the module that a kernel reads, up to so many bytes behind its begin: nothing that
// is written may overlap that.
struct Variable {
  std::string name;
  std::uint64_t bytes = 0;
  friend bool operator==(const Variable&, const Variable&) = default;
};

// An entry that does several launches of the kernel at once. Its launch and what comes of it:
// steps.hpp. It takes the kernel's parameters and, at grid_offset(), three u32 more: the threads of
// the original launch along x, y, z, or the extents; where it is told, a fourth: T; of three arrays
// in rotation also addresses: StepArrays. One entry may stand in a contract several times, with
// several T.
struct Steps {
  std::string entry;
  // T; odd, so that `in` and `out` are exchanged behind it as behind one launch; or a multiple of
  // three, so that old, now and next are behind it what they were.
  unsigned count = 0;
  std::vector<Swap> swaps;
  std::optional<Rotation> rotation; // instead of swaps
  // The entry waits for all grids in front of it before it touches memory (PTX ISA,
  // griddepcontrol.wait), so it may be launched to begin ahead of their end: with programmatic
  // stream serialization.
  bool waits = false;
  bool is_told = false; // how many steps to do
  // Blocks in one line are rows, %ctaid.x the number of one and %tid.x a place in it: the launch
  // counts as one of as many threads along x as a block has, and along y as there are blocks.
  bool by_block = false;
  // The threads of several axes are numbered one behind the other, in all blocks: the launch counts
  // as one of so many along x. Which axes it has beside x: those that are not said have one block,
  // or one thread.
  struct InLine {
    bool blocks = false, threads = false; // along y
    [[nodiscard]] bool any() const { return blocks || threads; }
    friend bool operator==(const InLine&, const InLine&) = default;
  };
  InLine in_line;
  std::array<unsigned, 3> block{1, 1, 1};
  // Threads of the original launch whose work one block does: what the grid is divided by, in
  // threads, rounded up.
  std::array<unsigned, 3> covers{1, 1, 1};
  // Of its launch for each processor of the chip: with fewer, another entry for as many steps that
  // has more blocks is faster.
  unsigned blocks_each = 1;
  // Of a kernel whose threads, one behind the other, are the places of rows: how many places there
  // are along x, y, z, instead of the threads of the original launch. All empty: these.
  std::array<Expression, 3> extents;
  [[nodiscard]] bool has_extents() const { return !extents[0].empty(); }
  std::vector<Condition> conditions;
  std::vector<Touched> touched;
  // Of two arrays that are exchanged: a launch stores to some of these of `out`, and to nothing
  // else.
  std::optional<Elements> stored;
  std::vector<Variable> variables;
  friend bool operator==(const Steps&, const Steps&) = default;
};

// A kernel that does nothing but copy elements of one array to the same places of another one.
struct CopyKernel {
  unsigned from = 0, to = 0; // parts of parameters
  Elements elements;         // of either array: all of them, if the conditions hold
  std::vector<Condition> conditions;
  friend bool operator==(const CopyKernel&, const CopyKernel&) = default;
};

// Of a parameter in the parameter space.
struct ParameterSlot {
  unsigned offset = 0, size = 0; // bytes
  friend bool operator==(const ParameterSlot&, const ParameterSlot&) = default;
};

// An entry that does passes through a sequence of several kernels, over and over, with the same
// parameters each time. Its launch and what comes of it: sequences.hpp.
struct Sequence {
  // One launch of the sequence. It stores to arrays that it reads at the places that it stores
  // alone, if at all.
  struct Stage {
    // Places of the grid, first <= place < end along x, y, z: all that the stage stores to and
    // reads beside these. `extents`: how many places have a thread; all empty: as many as the
    // launch has threads.
    struct Box {
      std::array<Expression, 3> extents, first, end;
      [[nodiscard]] bool has_extents() const { return !extents[0].empty(); }
      friend bool operator==(const Box&, const Box&) = default;
    };
    std::string kernel;
    std::vector<ParameterSlot> places; // of its parameters
    std::vector<Condition> conditions;
    std::vector<Touched> touched;
    std::vector<Box> boxes; // one; or several that are done in turn, of threads along a line
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  // Part of a parameter of a stage.
  struct Part {
    unsigned stage = 0, part = 0;
    friend bool operator==(const Part&, const Part&) = default;
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  // Have to be the same, `bytes` bytes: two pointers to one array, two that are a size.
  struct Equal {
    Part a, b;
    unsigned bytes = 0;
    friend bool operator==(const Equal&, const Equal&) = default;
  };
  // The element of a place: its bytes, and how far it is to the next place along x, y, z, as the
  // stage of the array's pointer has it. Empty: all along the axis have one.
  struct Element {
    unsigned bytes = 0;
    std::array<Expression, 3> strides;
    friend bool operator==(const Element&, const Element&) = default;
  };
  std::string entry;
  unsigned count = 0; // passes that it does at most: it is told how many
  bool waits = false; // as of Steps
  std::array<unsigned, 3> block{1, 1, 1}, covers{1, 1, 1}; // as of Steps
  std::vector<Stage> stages;                               // in the order of their launches
  std::vector<Equal> equal;
  bool same_threads = false;     // along each axis, of all launches
  std::vector<Part> arrays;      // by array that some stage stores to: a pointer to it
  std::vector<Element> elements; // by array
  // Whole parameters, of 4 or 8 bytes, that may have another value in each pass: numbers of the
  // step, of time, of a source.
  std::vector<Part> varying;
  friend bool operator==(const Sequence&, const Sequence&) = default;
};

struct Contract {
  std::string kernel;     // under whose name the program launches
  std::uint64_t code = 0; // of the PTX of the kernel and all entries: what was measured hangs on it
  std::uint64_t text = 0; // of the kernel as its compiler wrote it (profile/text.hpp); 0: not said
  // The original's parameters: how many, and where the last one ends in the parameter space.
  unsigned parameters = 0, parameter_bytes = 0;
  std::vector<ParameterSlot> places; // of the parameters, all or none
  std::vector<Access> accesses;      // of the original; none where no variant is judged by them
  std::vector<Variant> variants;     // the first one is the entry of the kernel's own name
  std::vector<Steps> steps;          // most steps first
  std::optional<CopyKernel> copy;    // what the kernel does, if it copies
  std::vector<Sequence> sequences;   // whose first stage it is
  friend bool operator==(const Contract&, const Contract&) = default;
};

// Where the sizes of the original grid (of a Steps: its threads; of a reshaped entry: an
// OriginalShape) lie in the parameter space (PTX
// ISA: natural alignment).
[[nodiscard]] constexpr unsigned grid_offset(const Contract& contract) {
  return (contract.parameter_bytes + 3) / 4 * 4;
}

[[nodiscard]] std::string symbol_of(std::string_view kernel);
[[nodiscard]] std::string encode(const Contract& contract);
// What `encode` made, or why these bytes are no contract that we can keep: damaged, of another
// version, or not sensible.
[[nodiscard]] tl::expected<Contract, std::string> decode(std::string_view bytes);
// Names are names, sizes those that a module has, and what is said fits together.
[[nodiscard]] bool is_sensible(const Contract& contract);

// Interpolated between the launches for which it is stated; 0: nothing is known.
[[nodiscard]] double gain_of(const Variant& variant, unsigned threads, double of_waves);

} // namespace ptxasw::contract
