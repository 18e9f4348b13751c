// An assembler for tests: answers by a function, and keeps what it was asked.
#pragma once

#include "oracle/assembler.hpp"

#include <functional>
#include <utility>

namespace ptxasw::oracle {

class FakeAssembler : public Assembler {
public:
  using Answer = std::function<std::optional<Assembled>(const AssemblyRequest&)>;
  explicit FakeAssembler(Answer answer) : answer_(std::move(answer)) {}

  using Assembler::assemble;
  std::vector<std::optional<Assembled>>
  assemble(std::span<const AssemblyRequest> requests) override {
    std::vector<std::optional<Assembled>> answers;
    for (const AssemblyRequest& request : requests) {
      asked.push_back(request);
      answers.push_back(answer_(request));
    }
    return answers;
  }

  std::vector<AssemblyRequest> asked;

private:
  Answer answer_;
};

} // namespace ptxasw::oracle
