// Each prologue leaves the real index where its arithmetic could not be exact: all threads that
// such a case concerns see it alike, or keep their own place.
#include "passes/remap/remap.hpp"

#include "passes/remap/maps.hpp"
#include "passes/shared/copy_names.hpp"
#include "passes/shared/materialize.hpp"
#include "passes/shared/stand_in.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ptxasw::passes {

using passes::RemapPlan;

namespace {

// A machine that leaves code behind; values are registers or numbers.
class WritingMachine {
public:
  using Value = std::string;
  WritingMachine(Registers& registers, Text& text) : registers_(registers), text_(text) {}

  static Value number(unsigned n) { return std::to_string(n); }
  Value add(const Value& a, const Value& b) { return binary("add.u32", a, b); }
  Value sub(const Value& a, const Value& b) { return binary("sub.u32", a, b); }
  Value mul(const Value& a, const Value& b) { return binary("mul.lo.u32", a, b); }
  Value div(const Value& a, const Value& b) { return binary("div.u32", a, b); }
  Value rem(const Value& a, const Value& b) { return binary("rem.u32", a, b); }
  Value min(const Value& a, const Value& b) { return binary("min.u32", a, b); }
  Value choose_odd(const Value& y, const Value& a, const Value& b) {
    const std::string odd = registers_.make("pred"), into = registers_.make("b32");
    text_.line("setp.ne.u32 \t{}, {}, 0;", odd, binary("and.b32", y, "1"));
    text_.line("selp.b32 \t{}, {}, {}, {};", into, a, b, odd);
    return into;
  }

private:
  Value binary(std::string_view op, const Value& a, const Value& b) {
    Value into = registers_.make("b32");
    text_.line("{} \t{}, {}, {};", op, into, a, b);
    return into;
  }

  Registers& registers_;
  Text& text_;
};

class Remapper {
public:
  Remapper(const emulator::Kernel& kernel, const RemapPlan& plan)
      : k_(kernel), module_(*kernel.body.module), plan_(plan), registers_(module_, "%ptxasw_place"),
        machine_(registers_, text_), as_launched_(label_prefix(module_) + "as_launched") {}

  std::vector<ptx::Edit> run() {
    text_.line("// ptxasw: whose work this thread does");
    switch (plan_.remap.kind) {
    case RemapKind::linear_column:
    case RemapKind::linear_zigzag: move_elements(); break;
    case RemapKind::thread_swap: swap_threads(); break;
    default: move_blocks(); break;
    }
    const ptx::Range brace = module_.body_of(*k_.body.function).front().range;
    edits_.push_back(
        {{brace.end, brace.end}, fmt::format("\n{}{}\n", registers_.declarations(), text_.all)});
    stand_in(k_.body, instead_, edits_);
    return std::move(edits_);
  }

private:
  // --- Blocks ----------------------------------------------------------------------------------

  void move_blocks() {
    const Remap& remap = plan_.remap;
    const std::string x = become("%ctaid.x"), y = become("%ctaid.y"), nx = read("%nctaid.x");
    Band<std::string> band{"0", read("%nctaid.y")};
    if (remap.kind == RemapKind::tile) band = band_of(machine_, y, band.rows, remap.height);
    stay_if_product_wraps(nx, band.rows);
    const std::string n = machine_.add(machine_.mul(machine_.sub(y, band.first), nx), x);
    const unsigned width = remap.kind == RemapKind::swap ? 1 : remap.width;
    const auto place = walk(machine_, n, nx, band.rows, width, remap.kind == RemapKind::zigzag);
    text_.line("mov.u32 \t{}, {};", x, place.x);
    text_.line("add.u32 \t{}, {}, {};", y, place.y, band.first);
    text_.label(as_launched_);
  }

  // --- Elements of a linear index --------------------------------------------------------------

  // Those of the rows that are complete; the others stay. %tid.x becomes what gives the new sum.
  void move_elements() {
    const std::string thread = become("%tid.x"), block = read("%ctaid.x"),
                      threads = read("%ntid.x"), blocks = read("%nctaid.x");
    stay_if_product_wraps(blocks, threads);
    std::string end = machine_.mul(blocks, threads);
    const std::string e = machine_.add(machine_.mul(block, threads), thread);
    const std::string width = materialize(k_, plan_.linear.width, registers_, text_);
    stay_if("setp.eq.u32", width, "0");
    if (plan_.linear.end.valid())
      end = machine_.min(end, materialize(k_, plan_.linear.end, registers_, text_));
    const std::string rows = machine_.div(end, width);
    stay_if("setp.ge.u32", e, machine_.mul(rows, width));
    const auto place = walk(machine_, e, width, rows, plan_.remap.width,
                            plan_.remap.kind == RemapKind::linear_zigzag);
    const std::string moved = machine_.add(machine_.mul(place.y, width), place.x);
    text_.line("add.u32 \t{0}, {0}, {1};", thread, machine_.sub(moved, e));
    text_.label(as_launched_);
  }

  // --- Lanes -----------------------------------------------------------------------------------

  void swap_threads() {
    const auto along = [&](std::string_view of) { return fmt::format("%{}.{}", of, plan_.axis); };
    const PlaceInGroup<std::string> at{become("%tid.x"), become(along("tid")),
                                       become(along("ctaid"))};
    const std::string threads = read("%ntid.x"), rows = read(along("ntid")),
                      blocks = read(along("nctaid"));
    if (plan_.lane_stride.valid())
      stay_if("setp.lt.u64", materialize(k_, plan_.lane_stride, registers_, text_), "32");
    const auto place = swap_axes(machine_, at, threads, rows, blocks, plan_.remap.width);
    text_.line("mov.u32 \t{}, {};", at.x, place.x);
    text_.line("mov.u32 \t{}, {};", at.row, place.row);
    text_.line("mov.u32 \t{}, {};", at.block, place.block);
    if (plan_.lane_stride.valid()) text_.label(as_launched_);
  }

  // --- Parts -----------------------------------------------------------------------------------

  std::string read(std::string_view special) {
    std::string reg = registers_.make("b32");
    text_.line("mov.u32 \t{}, {};", reg, special);
    return reg;
  }

  // The register that stands for the special one in the body; as launched to begin with.
  std::string become(std::string_view special) {
    return instead_[std::string(special)] = read(special);
  }

  void stay_if(std::string_view compare, std::string_view a, std::string_view b) {
    const std::string stay = registers_.make("pred");
    text_.line("{} \t{}, {}, {};", compare, stay, a, b);
    text_.line("@{} bra \t{};", stay, as_launched_);
  }

  void stay_if_product_wraps(std::string_view a, std::string_view b) {
    const std::string high = registers_.make("b32");
    text_.line("mul.hi.u32 \t{}, {}, {};", high, a, b);
    stay_if("setp.ne.u32", high, "0");
  }

  const emulator::Kernel& k_;
  const ptx::Module& module_;
  const RemapPlan& plan_;
  Registers registers_;
  Text text_;
  WritingMachine machine_;
  std::string as_launched_; // label
  StandIns instead_;
  std::vector<ptx::Edit> edits_;
};

} // namespace

std::vector<ptx::Edit> remap(const emulator::Kernel& kernel, const RemapPlan& plan) {
  if (!plan.refused.empty()) return {};
  return Remapper(kernel, plan).run();
}

} // namespace ptxasw::passes
