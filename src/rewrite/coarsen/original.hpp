// The body of a kernel as it stands, for blocks that do their own work only, with a way out of it
// for those that may do more.
#pragma once

#include "rewrite/coarsen/extent.hpp"
#include "rewrite/coarsen/names.hpp"
#include "rewrite/names.hpp"
#include "rewrite/text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::rewrite {

// The statements of a body without its braces.
std::span<const ptx::Statement> inside(const ptx::Body& body);
// ret and exit.
bool ends_thread(const ptx::Inst& inst);
// May control reach the end of the body?
bool open_end(const ptx::Body& body);
// Threads of launches whose `number`, a register, is `least` or more jump to `to` before the body
// does anything. Without a register it is the product of extents, if these are not empty.
struct WayOut {
  std::string number;
  std::uint32_t least = 0;
  std::string to;
  std::vector<Extent> extents;
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
  // behind the body, by the number once more (a predicate that is kept for that is computed beside
  // the sum of both). So a question costs those that stay a single comparison.
  void write(unsigned form, const WayOut* out = nullptr);
  // Once more, for those that left and shall not be merged. As a loop of one trip, which only the
  // hardware knows: of two bodies that end alike ptxas makes one end, and that stood far from the
  // rest of the one that small launches run. Not for bodies in which a thread may end before others
  // meet: it is still there, behind the body.
  void write_apart(unsigned form);
  // What places are compared with where the question stands.
  [[nodiscard]] std::vector<Extent> extents_of(const std::array<unsigned, 3>& factors) const;

private:
  [[nodiscard]] std::size_t first_that_acts() const;
  // The number that was asked about.
  std::string ask(const WayOut& out, const ptx::Inst* exit, unsigned form);
  [[nodiscard]] std::string product_of(const std::vector<Extent>& extents, unsigned form);
  void write_body(unsigned form, const WayOut* out, std::string_view leave);
  [[nodiscard]] std::string guard_of(const ptx::Inst& inst, unsigned form) const;
  [[nodiscard]] std::string copied(const ptx::Inst& inst, unsigned form) const;

  const Names& original_;
  const CopyNames& names_;
  Registers& registers_;
  std::string aside_, again_, done_; // labels
  Text& text_;
  const ptx::Body& body_;
  const ptx::Module& module_;
  std::span<const ptx::Statement> inside_; // without the braces
};

} // namespace ptxasw::rewrite
