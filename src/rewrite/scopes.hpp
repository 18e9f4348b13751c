// Which register names can be used where: PTX has nested blocks with their own declarations.
#pragma once

#include "ptx/body.hpp"

#include <cstdint>
#include <vector>

namespace ptxasw::rewrite {

class Scopes {
public:
  explicit Scopes(const ptx::Body& body);

  // A register that instruction `from` names has the same name in `to`: they stand in one scope.
  [[nodiscard]] bool shares_names(ptx::InstId from, ptx::InstId to) const;
  // Offset just behind the function's opening brace.
  [[nodiscard]] std::uint32_t body_start() const { return body_start_; }

private:
  const ptx::Body& body_;
  std::vector<std::uint32_t> scope_of_; // by statement of the body: number of its scope
  std::uint32_t first_ = 0;             // statement number of the body's first statement
  std::uint32_t body_start_ = 0;
};

} // namespace ptxasw::rewrite
