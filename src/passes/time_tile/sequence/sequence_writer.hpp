// The text of an entry that does T passes through a sequence of kernels (sequence.hpp) at once.
//
// Each block has a region of the grid, wider than what it writes by what T passes read around it,
// and for each place of it and each array a value in a register. A stage does what its kernel does,
// by the kernel's own instructions, place by place: where the kernel's guards let the thread of
// that place store, the values of its arrays become new ones; elsewhere they stay. No stage reads
// an array that it stores to beside the thread's own place, so each array needs one image only, and
// what nobody stores to stays in it by itself. Neighbours' values go through shared memory: an
// array that was stored to is put there ahead of the first stage that reads it beside a place.
//
// There are two copies: one for regions in which each place stores in each stage, and in each place
// what is in the interior; and one that asks. A stage that stores in few places (a rim, a source)
// counts the other way round: the first copy is for regions in which it stores nowhere, and leaves
// it out.
//
// Along an axis of a torus a region's places go on beyond its size: they are told apart by their
// coordinates modulo that, and of several ones of one element the one within the torus is stored.
//
// Entries come in pairs (contract/sequences.hpp): elements that some stage stores to are read from
// one place and written to another, all others are read from the program's arrays.
#pragma once

#include "passes/time_tile/emit/body.hpp"
#include "passes/time_tile/emit/layout.hpp"
#include "passes/time_tile/emit/steps.hpp"
#include "passes/time_tile/polynomial/polynomial_code.hpp"
#include "passes/time_tile/sequence/sequence.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ptxasw::passes {

struct SequenceEntry {
  Why refused;      // why there is none; nothing else is then valid
  std::string text; // the whole function
  contract::Sequence contract;
};

// Of the kernel of a launch: one that is launched several times has its parameters several times.
ParameterNames parameter_names(std::span<emulator::Kernel* const> kernels, std::size_t launch);

class SequenceWriter {
public:
  SequenceWriter(std::span<emulator::Kernel* const> kernels, const SequencePlan& plan,
                 const StepShape& shape, std::string name);

  SequenceEntry run();

private:
  using Column = std::vector<ptx::Reg>; // by place of a thread: row by row
  using Bounds = std::vector<Bound>;
  struct Stage {
    const emulator::Kernel& kernel;
    const SequencePlan::Stage& found;
    ParameterNames names;
    StepBody body;
    PolynomialCode numbers;
    bool few = false;        // it stores in few places
    StepBody::Place limit{}; // threads of its launch
    ptx::Reg stores{};       // a bit for each place, on a path with a rim
  };
  // Of an array: the thread's first element, where it is read, written and in the program's own.
  struct Place {
    ptx::Reg read, write, own, row_stride, tile;
  };
  // What is known of the tiles as a stage begins.
  struct Tiles {
    std::set<unsigned> stale; // arrays that were stored to since they were put there
    std::set<unsigned> read;  // tiles, since the last barrier
  };

  [[nodiscard]] Why why_not() const;
  void prologue();
  void find_thread();
  void find_places();
  void find_array(unsigned n);
  // That threads know of, and along which there is one alone.
  [[nodiscard]] std::optional<unsigned> flat_axis() const;
  ptx::Reg guards_of_all(Stage& stage);
  void find_inside();
  ptx::Reg plus(const ptx::Reg& a, long n);
  ptx::Reg holds(Stage& stage, const Bound& bound, const ptx::Reg& coordinate);
  ptx::Reg within(Stage& stage, unsigned axis, const ptx::Reg& coordinate, const Bounds& bounds,
                  ptx::Reg all);
  ptx::Reg inside(Stage& stage, unsigned axis, const ptx::Reg& coordinate, const Bounds& bounds);
  void add_inside(const ptx::Reg& one);
  void add_inside(Stage& stage);
  [[nodiscard]] bool is_separable(const Stage& stage) const;

  // Of the thread's first place, so far along the axis; around a torus, that in it.
  ptx::Reg coordinate(unsigned axis, long far);
  [[nodiscard]] bool is_around(unsigned axis) const {
    return axis < 3 && plan_.periods.at(axis).has_value();
  }
  ptx::Reg turned(unsigned n, unsigned axis, long far, const ptx::Reg& at);
  ptx::Reg is_own(unsigned axis, long far, const ptx::Reg& all);

  void write_path(bool inner);
  void find_masks();
  ptx::Reg mask(Stage& stage, const Offset& away, const Bounds& bounds, bool stores);
  ptx::Reg make_mask(Stage& stage, const Offset& away, const Bounds& bounds, bool stores);
  ptx::Reg mask_by_place(Stage& stage, const Offset& away, const Bounds& bounds);
  ptx::Reg column_in(Stage& stage, int away, const Bounds& bounds, bool stores);
  ptx::Reg rows_in(Stage& stage, int away, const Bounds& bounds, bool stores);
  ptx::Reg bit_of(const ptx::Reg& mask, unsigned row);
  // On the path that is written.
  [[nodiscard]] bool is_left_out(const Stage& stage) const { return inner_ && stage.few; }
  [[nodiscard]] bool is_stored(unsigned n) const;
  [[nodiscard]] bool is_read(unsigned n) const;
  [[nodiscard]] static std::span<const StepArray::Load> loads_of(const Stage& stage, unsigned n);
  ptx::Reg read_inside(unsigned n);
  void load(unsigned n);
  void loop();
  void run_stage(Stage& stage, Tiles& tiles);
  void begin_pass(Stage& stage);
  [[nodiscard]] StepBody::Varying varying_of(unsigned launch) const;
  void put_into_tiles(const Stage& stage, Tiles& tiles, bool write);
  void step(Stage& stage);
  // Of a stage that loads as data say (StepPlan::late): which places are right behind it.
  [[nodiscard]] bool has_late_loads() const;
  void find_right(const Stage& stage);
  ptx::Reg is_right(unsigned row);
  ptx::Reg element(unsigned n, unsigned row, const Offset& offset,
                   std::map<std::tuple<unsigned, int, int>, ptx::Reg>& known);
  void store_centre();

  [[nodiscard]] int offset_u(const Offset& offset) const { return offset[at_.axes.u]; }
  [[nodiscard]] int offset_v(const Offset& offset) const {
    return at_.has_strips() ? offset[at_.axes.v] : 0;
  }
  [[nodiscard]] std::size_t number_of(const Stage& stage) const {
    return static_cast<std::size_t>(&stage.found - plan_.stages.data());
  }
  [[nodiscard]] bool is_beside(unsigned row, const Offset& offset) const;
  [[nodiscard]] std::set<unsigned> read_beside(const Stage& stage) const;
  [[nodiscard]] std::vector<bool> passed_on(unsigned n) const;
  [[nodiscard]] ptx::Type type_of(unsigned n) const {
    return ptx::bits(plan_.region.arrays[n].bytes * 8);
  }
  [[nodiscard]] std::string header() const;
  void finish();

  const std::span<emulator::Kernel* const> launches_;
  const ptx::Module& module_;
  const SequencePlan& plan_;
  const StepShape shape_;
  const std::string name_;
  SequenceEntry entry_;
  StepLayout at_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
  std::string labels_;
  std::deque<Stage> stages_;

  StepBody::Place corner_, place_; // the region's first place; the thread's
  ptx::Reg column_, first_row_, left_, inside_, bit_, one_;
  ptx::Reg values_; // where those of the pass lie; empty: nothing varies
  std::vector<Place> arrays_;
  std::vector<Column> image_; // by array
  bool inner_ = true;
  unsigned copies_ = 0;
  ptx::Reg done_; // passes
  // How far from the region's begin places are right, and how many are.
  std::array<ptx::Reg, 2> right_from_, right_size_;
  std::vector<ptx::Reg> stored_, needed_; // by array, on a path with a rim
  std::map<std::string, ptx::Reg> known_; // masks of columns and rows, by what they are
  std::map<std::pair<unsigned, long>, ptx::Reg> around_; // coordinates, by axis and how far
};

} // namespace ptxasw::passes
