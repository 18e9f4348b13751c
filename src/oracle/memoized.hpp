// An assembler that is asked nothing twice: what one step wanted to know of a text
// serves the next one.
//
// The trial of the original is also what multiply-adds are recovered from, what the machine code of
// a rewritten kernel is compared with, and what the register guard asks for; the trial of the way
// that is chosen is often the text that is then judged.
#pragma once

#include "ptxasw/assembler.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ptxasw::oracle {

class MemoizedAssembler : public Assembler {
public:
  explicit MemoizedAssembler(Assembler& behind) : behind_(behind) {}
  using Assembler::assemble;

  [[nodiscard]] bool takes_register_limits() const override {
    return behind_.takes_register_limits();
  }
  std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) override;
  std::optional<Assembled> keep(const std::string& text) override {
    ++calls_;
    std::optional<Assembled> kept = behind_.keep(text);
    answered_all_ &= kept.has_value(); // the output may be at fault, and not the text
    return kept;
  }
  std::optional<Recalled> recall(const std::string& text) override { return behind_.recall(text); }
  void remember(const std::string& text, const std::string& decisions) override {
    behind_.remember(text, decisions);
  }
  [[nodiscard]] std::string refusal() const override { return behind_.refusal(); }

  // Nothing was left open: asked again, it would say the same.
  [[nodiscard]] bool answered_all() const { return answered_all_; }
  // Requests that went to the assembler.
  [[nodiscard]] unsigned calls() const { return calls_; }

private:
  struct Answer {
    AssemblyRequest request;
    std::optional<Assembled> made;
  };
  [[nodiscard]] const Answer* find(const AssemblyRequest& request) const;

  Assembler& behind_;
  std::vector<Answer> answers_;
  std::size_t bytes_ = 0; // of them
  unsigned calls_ = 0;
  bool answered_all_ = true;
};

} // namespace ptxasw::oracle
