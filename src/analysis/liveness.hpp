// Classic backward liveness over the registers of a body.
#pragma once

#include "analysis/cfg.hpp"

#include <vector>

namespace ptxasw::analysis {

class Liveness {
public:
  Liveness(const ptx::Body& body, const Cfg& cfg);
  [[nodiscard]] bool live_in(BlockId block, ptx::RegId reg) const;
  [[nodiscard]] bool live_out(BlockId block, ptx::RegId reg) const;
  // Largest number of 32-bit register units live at once (predicates not counted): an estimate of
  // register pressure before ptxas' own allocation.
  [[nodiscard]] unsigned pressure() const { return pressure_; }

private:
  std::vector<std::vector<bool>> in_, out_;
  unsigned pressure_ = 0;
};

// All places that write each register, in program order.
std::vector<std::vector<ptx::InstId>> definitions(const ptx::Body& body);

} // namespace ptxasw::analysis
