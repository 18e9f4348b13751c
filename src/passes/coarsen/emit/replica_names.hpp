// Names of a coarsened kernel: the registers of each copy and its own labels.
#pragma once

#include "passes/coarsen/find/block.hpp"
#include "passes/shared/bindings.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::passes {

class CopyNames {
public:
  CopyNames(const Names& names, const BlockPlan& plan);

  // The register in a copy, marked: its own name in copy 0 and where it is the same in all copies,
  // else %f12 -> %f_c3_12. What is declared in a nested block, or shares its name, cannot be named
  // everywhere: it gets a name for copy 0, too.
  [[nodiscard]] ptx::Reg of(ptx::RegId reg, unsigned copy) const;
  // The variable that a copy has for a symbol (an index into Body::symbols): shared memory that the
  // kernel declares is declared anew, in front of all forms.
  [[nodiscard]] std::string of_symbol(std::uint32_t symbol, unsigned copy) const;
  // Declarations of the names that are not the registers' own.
  [[nodiscard]] std::string declarations() const;
  // And of variables of shared memory.
  [[nodiscard]] std::string shared_declarations() const;

private:
  struct Name {
    std::string stem;                 // %f
    std::uint32_t number = ptx::none; // 12; none: the stem is the whole name
  };
  void split_names();
  [[nodiscard]] bool is_own(ptx::RegId reg, unsigned copy) const;
  [[nodiscard]] std::string written(ptx::RegId reg, unsigned copy) const;
  [[nodiscard]] bool marks_are_taken() const;

  const ptx::Body& body_;
  const BlockPlan& plan_;
  std::string mark_;          // "_c", or longer if the module uses that
  std::vector<Name> names_;   // by RegId
  std::vector<bool> renamed_; // by RegId: in copy 0, too
  std::vector<bool> hoisted_; // by symbol: shared memory that the kernel declares
};

} // namespace ptxasw::passes
