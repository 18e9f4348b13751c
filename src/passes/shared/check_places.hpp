// Where what a proof assumes of an index can be checked: registers that hold the index, and the
// unit it moves by, at an instruction.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/address_match.hpp"
#include "passes/shared/between.hpp"

#include <optional>

namespace ptxasw::passes {

// An IndexFact with the registers from which the lane that relies on it checks it at run time.
struct NoWrap {
  IndexFact fact;
  ptx::RegId index = 0;        // holds fact.index at the covered load
  ptx::RegId unit = ptx::none; // holds fact.unit; none: it is 1
  ptx::InstId defined = 0;     // where the index was left there
  ptx::InstId unit_defined = 0;
};

class CheckPlaces {
public:
  CheckPlaces(const emulator::Kernel& kernel, Between& between) : k_(kernel), between_(between) {}

  // Registers that hold the index and the unit of the fact at `inst`, if there are any.
  std::optional<NoWrap> place(const IndexFact& fact, ptx::InstId inst);

private:
  const emulator::Definition* find_register(sym::Term value, ptx::InstId inst);
  bool overwritten(const emulator::Definition& definition, ptx::InstId before);

  const emulator::Kernel& k_;
  Between& between_;
};

} // namespace ptxasw::passes
