// The sums of a body that ptxas may fuse with a product, and which products these are.
#pragma once

#include "ptx/body.hpp"

#include <array>
#include <optional>
#include <vector>

namespace ptxasw::passes {

// A product behind an operand of a sum, perhaps through neg and mov, whose factors can be named at
// the sum.
struct Product {
  ptx::InstId mul = ptx::none; // a mul, or an operation that ends in one
  bool negated = false;        // an odd number of negs between mul and sum
};

struct Site {
  ptx::InstId sum = 0;
  std::array<std::vector<ptx::InstId>, 2> candidates; // by operand: all products that may be there
  std::array<std::optional<Product>, 2> product;      // the one that can be written down
};

// div.approx, div.full and rcp.approx of f32, which ptxas expands into something that ends in a
// product.
bool ends_in_product(const ptx::Inst& inst);

// Which definitions reach where, along all paths.
class Reaching {
public:
  explicit Reaching(const ptx::Body& body);

  [[nodiscard]] const std::vector<ptx::InstId>& definitions(ptx::RegId reg) const {
    return definitions_[reg];
  }
  // The only definition of a register that reaches an instruction; none if there are several, or a
  // guarded one. Paths on which the register was never written do not count.
  [[nodiscard]] ptx::InstId only(ptx::RegId reg, ptx::InstId at) const;
  // Does what `arg` is at `at` last until `later`, on every path that does not run `at` again?
  [[nodiscard]] bool lasts(const ptx::Arg& arg, ptx::InstId at, ptx::InstId later) const;
  // May `from` run, and then `to`, without `stop` in between?
  [[nodiscard]] bool leads(ptx::InstId from, ptx::InstId to, ptx::InstId stop) const;

private:
  const ptx::Body& body_;
  std::vector<std::vector<ptx::InstId>> definitions_, before_, behind_;
};

// In the order of the text.
std::vector<Site> find_sites(const ptx::Body& body, const Reaching& reaching);

} // namespace ptxasw::passes
