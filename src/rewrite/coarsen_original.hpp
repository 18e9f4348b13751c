// The body of a kernel as it stands, for blocks that do their own work only, with a way out of it
// for those that may do more.
#pragma once

#include "rewrite/coarsen_names.hpp"
#include "rewrite/names.hpp"
#include "rewrite/text.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::rewrite {

// ret and exit.
bool ends_thread(const ptx::Inst& inst);
// May control reach the end of the body?
bool open_end(const ptx::Body& body);
// The instruction's text behind its guard.
std::string_view without_guard(const ptx::Body& body, const ptx::Inst& inst);

// Threads for which `many` holds, a predicate that is the same for a whole block, jump to `to`
// before the body does anything.
struct WayOut {
  std::string many, to;
};

class OriginalBody {
public:
  OriginalBody(const Names& original, const CopyNames& names, Registers& registers,
               const std::string& prefix, Text& text);

  // `form`: a number for its registers, which are its own. `out` none: nobody leaves.
  //
  // The question stands where only what computes has run, which it then waits beside, and no jump
  // leads: what may act comes behind it. Where that is a guarded jump or return, of threads that
  // have nothing to do, these and those that may be merged leave by one branch, and are told apart
  // behind the body: so a question costs those that stay next to nothing.
  void write(unsigned form, const WayOut* out = nullptr);

private:
  [[nodiscard]] std::size_t first_that_acts() const;
  void ask(const WayOut& out, const ptx::Inst* exit, unsigned form);
  [[nodiscard]] std::string copied(const ptx::Inst& inst, unsigned form) const;

  const Names& original_;
  const CopyNames& names_;
  Registers& registers_;
  std::string aside_; // label
  Text& text_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  std::span<const ptx::Statement> inside_; // without the braces
};

} // namespace ptxasw::rewrite
