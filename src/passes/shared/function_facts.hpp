// What is known of a function before anybody looks into it: from its directives and from options.
#pragma once

#include "ptx/parse.hpp"
#include "ptxasw/assembler.hpp"
#include "ptxasw/options.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxasw::passes {

// How a kernel may be launched.
struct Launches {
  bool states_size = false; // by .maxntid or .reqntid, to which ptxas keeps
  BlockSizes sizes;         // of its blocks
  // Blocks of which as many have to stay resident on an SM (target/residency.hpp); none: of no
  // size.
  std::optional<BlockSizes> resident;
  unsigned shared_per_sm = 0; // bytes; 0: not known
};

// For which the text will be assembled: as options say, or else as it says itself.
std::string_view architecture_of(const ptx::Module& module, const Options& options);

// Module, function and options must outlive it.
class FunctionFacts {
public:
  FunctionFacts(const ptx::Module& module, const ptx::Function& function, const Options& options)
      : module_(module), function_(function), options_(options) {}

  [[nodiscard]] std::string_view architecture() const { return architecture_of(module_, options_); }
  // The size of its blocks is stated.
  [[nodiscard]] bool is_bounded() const;
  // Has performance directives, beside which there is no place for ours.
  [[nodiscard]] bool is_tuned() const;
  [[nodiscard]] Launches launches() const;
  // Of a block; zeros where it is not known.
  [[nodiscard]] std::array<std::uint32_t, 3> block_shape() const;
  // Of a block, as far as is known; a stated maximum is taken for what is launched. 0: not known.
  [[nodiscard]] unsigned threads() const;
  // The user vouches for it (--assume).
  [[nodiscard]] bool assumed(std::string_view what) const;

private:
  const ptx::Module& module_;
  const ptx::Function& function_;
  const Options& options_;
};

} // namespace ptxasw::passes
