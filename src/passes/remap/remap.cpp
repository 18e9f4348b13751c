// Each prologue leaves the real index where its arithmetic could not be exact: all threads that
// such a case concerns see it alike, or keep their own place.
#include "passes/remap/remap.hpp"

#include "passes/remap/maps.hpp"
#include "passes/shared/materialize.hpp"
#include "passes/shared/special_registers.hpp"
#include "ptx/written.hpp"

#include <fmt/format.h>

#include <string>

namespace ptxasw::passes {

using ptx::Reg;
using ptx::Special;
using namespace ptx::words;

namespace {

// A machine that leaves code behind; values are registers or numbers.
class WritingMachine {
public:
  using Value = ptx::Source;
  explicit WritingMachine(ptx::Code& code) : code_(code) {}

  static Value number(unsigned n) { return n; }
  Value add(const Value& a, const Value& b) { return code_.add(u32, a, b); }
  Value sub(const Value& a, const Value& b) { return code_.sub(u32, a, b); }
  Value mul(const Value& a, const Value& b) { return code_.mul(u32, a, b); }
  Value div(const Value& a, const Value& b) { return code_.div(u32, a, b); }
  Value rem(const Value& a, const Value& b) { return code_.rem(u32, a, b); }
  Value min(const Value& a, const Value& b) { return code_.min(u32, a, b); }
  Value choose_odd(const Value& y, const Value& a, const Value& b) {
    const Reg chosen = code_.make(b32);
    const Reg odd = code_.setp(ne, u32, code_.and_(b32, y, 1), 0);
    return code_.into(chosen).selp(b32, a, b, odd);
  }

private:
  ptx::Code& code_;
};

class Remapper {
public:
  Remapper(const emulator::Kernel& kernel, const RemapPlan& plan)
      : k_(kernel), module_(*kernel.body.module), plan_(plan), registers_(module_, "%ptxasw_place"),
        code_(registers_), machine_(code_), as_launched_(label_prefix(module_) + "as_launched") {}

  std::vector<ptx::Edit> run() {
    code_.comment("ptxasw: whose work this thread does");
    switch (plan_.remap.kind) {
    case RemapKind::linear_column:
    case RemapKind::linear_zigzag: move_elements(); break;
    case RemapKind::thread_swap: swap_threads(); break;
    default: move_blocks(); break;
    }
    const ptx::Range brace = ptx::brace_of(k_.body);
    edits_.push_back({{brace.end, brace.end},
                      fmt::format("\n{}{}\n", registers_.declarations(), code_.behind())});
    substitute_special(k_.body, instead_, edits_);
    return std::move(edits_);
  }

private:
  // --- Blocks ----------------------------------------------------------------------------------

  void move_blocks() {
    const Remap& remap = plan_.remap;
    const Reg x = become(Special::ctaid_x), y = become(Special::ctaid_y),
              nx = code_.special(Special::nctaid_x), ny = code_.special(Special::nctaid_y);
    stay_if_product_wraps(nx, ny);
    const Reg n = code_.mad(u32, y, nx, x);
    const unsigned width = remap.kind == RemapKind::swap ? 1 : remap.width;
    const auto place = walk(machine_, n, nx, ny, width, remap.kind == RemapKind::zigzag);
    code_.into(x).mov(u32, place.x);
    code_.into(y).mov(u32, place.y);
    code_.label(as_launched_);
  }

  // --- Elements of a linear index --------------------------------------------------------------

  // Those of the rows that are complete; the others stay. %tid.x becomes what gives the new sum.
  void move_elements() {
    const Reg thread = become(Special::tid_x), block = code_.special(Special::ctaid_x),
              threads = code_.special(Special::ntid_x), blocks = code_.special(Special::nctaid_x);
    stay_if_product_wraps(blocks, threads);
    Reg end = code_.mul(u32, blocks, threads);
    const Reg e = code_.add(u32, code_.mul(u32, block, threads), thread);
    const Reg width = materialize(k_, plan_.linear.width, code_);
    stay_if(eq, u32, width, 0);
    if (plan_.linear.end.valid())
      end = code_.min(u32, end, materialize(k_, plan_.linear.end, code_));
    const Reg rows = code_.div(u32, end, width);
    stay_if(ge, u32, e, code_.mul(u32, rows, width));
    const auto place = walk(machine_, e, width, rows, plan_.remap.width,
                            plan_.remap.kind == RemapKind::linear_zigzag);
    const Reg moved = code_.add(u32, code_.mul(u32, place.y, width), place.x);
    code_.into(thread).add(u32, thread, code_.sub(u32, moved, e));
    code_.label(as_launched_);
  }

  // --- Lanes -----------------------------------------------------------------------------------

  void swap_threads() {
    const unsigned axis = plan_.axis == 'y' ? 1 : 2;
    const Reg x = become(Special::tid_x), row = become(along(Special::tid_x, axis)),
              block = become(along(Special::ctaid_x, axis));
    const Reg threads = code_.special(Special::ntid_x),
              rows = code_.special(along(Special::ntid_x, axis)),
              blocks = code_.special(along(Special::nctaid_x, axis));
    if (plan_.lane_stride.valid()) stay_if(lt, u64, materialize(k_, plan_.lane_stride, code_), 32);
    const auto place =
        swap_axes(machine_, {x, row, block}, threads, rows, blocks, plan_.remap.width);
    code_.into(x).mov(u32, place.x);
    code_.into(row).mov(u32, place.row);
    code_.into(block).mov(u32, place.block);
    if (plan_.lane_stride.valid()) code_.label(as_launched_);
  }

  // --- Parts -----------------------------------------------------------------------------------

  // The register that stands for the special one in the body; as launched to begin with.
  Reg become(Special special) { return instead_[special] = code_.special(special); }

  void stay_if(ptx::Compare compare, ptx::Type type, const ptx::Source& a, const ptx::Source& b) {
    code_.when(code_.setp(compare, type, a, b)).bra(as_launched_);
  }

  void stay_if_product_wraps(const ptx::Source& a, const ptx::Source& b) {
    stay_if(ne, u32, code_.mul_hi(u32, a, b), 0);
  }

  const emulator::Kernel& k_;
  const ptx::Module& module_;
  const RemapPlan& plan_;
  ptx::FreshRegisters registers_;
  ptx::Code code_;
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
