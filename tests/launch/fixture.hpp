// For tests of the engine: a machine that is as it was when a test has ended, and a program some of
// whose entries run in other blocks.
#pragma once

#include "program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ptxasw::launch::test {

class EngineTest : public testing::Test {
protected:
  EngineTest() { ::setenv("XDG_CACHE_HOME", "/dev/null", 1); } // nothing is kept
  void TearDown() override {
    gpu().tool = nullptr;
    gpu().capturing = false;
    gpu().events_done = true;
    gpu().modules.clear();
    gpu().kernels.clear();
    gpu().threads = usual_threads;
  }
  const int usual_threads = gpu().threads;
};

// Its entry knows from its last parameter what the program asked for.
struct InOtherBlocks : Program {
  InOtherBlocks() {
    contract::Contract contract = test::contract_of("k");
    for (const unsigned threads : {256U, 1024U})
      contract.variants.push_back({.entry = "k__ptxasw_reshaped",
                                   .name = "block:" + std::to_string(threads),
                                   .kind = contract::Kind::reshaped,
                                   .rest = contract::Rest::reshaped,
                                   .block = {threads, 0, 0}});
    module.globals[contract::symbol_of("k")] = contract::encode(contract);
    reshaped.run = [](const fake::Launched& launched) {
      const auto original = test::value_of<contract::OriginalShape>(launched.parameters[2]);
      auto* const numbers =
          reinterpret_cast<unsigned*>(test::value_of<CUdeviceptr>(launched.parameters[0]));
      const auto count = test::value_of<unsigned>(launched.parameters[1]);
      for (unsigned i = 0; i < launched.grid[0] * launched.block[0]; ++i)
        if (i < original.threads[0] && i < count) ++numbers[i];
    };
  }
  fake::Function& reshaped = gpu().add(module, "k__ptxasw_reshaped", {8, 4, 60});
};

} // namespace ptxasw::launch::test
