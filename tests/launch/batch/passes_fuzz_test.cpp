// Random programs of stages: whatever they launch, with whatever comes between, memory is as it
// would be without us. PTXASW_PASSES_FUZZ=N makes N of them.
#include "passes_case.hpp"

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace ptxasw::launch {
namespace {

using test::gpu;
using test::PassesTest;

class PassesFuzz : public PassesTest {
protected:
  // Of a row, that comes again and again.
  struct Step {
    char name = 's';
    unsigned blocks = 4, less = 0; // of the size
    bool is_extra = false;         // parameters come in a buffer
  };

  void play(unsigned seed) {
    random_.seed(seed);
    add_contracts();
    Settings settings = read_settings(below(2) == 0 ? "no-images,steps=60000000"
                                                    : "no-images,batch,steps=60000000");
    settings.tries_behind = 0;
    engine = std::make_unique<Engine>(settings);
    restore();
    for (unsigned phase = 0; phase < 3; ++phase) {
      std::vector<std::vector<Step>> rows(1 + below(4) / 3);
      for (auto& row : rows)
        row = make_row();
      for (unsigned t = 0; t < 60; ++t)
        repeat_one(rows[below(rows.size())]);
    }
    compare();
    engine.reset();
    for (const fake::Launched& one : gpu().launches)
      merged += one.entry.size() > 1 ? told(one) : 0;
    gpu().launches.clear();
  }
  unsigned merged = 0; // passes

private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }

  void add_contracts() {
    const auto number = [&] { return 1 + below(4); };
    contract.sequences = {sequence_of("sh", number()), sequence_of("shd", number())};
    if (below(2) == 0) contract.sequences.push_back(sequence_of("shsh", number()));
    keep_contract();
    contract::Contract other = contract;
    other.kernel = other.variants[0].entry = "h";
    other.sequences = {sequence_of("hd", number()), sequence_of("hs", number())};
    module.globals[contract::symbol_of("h")] = contract::encode(other);
    for (const char* names : {"shsh", "hd", "hs"})
      add_entry(names);
  }

  Step any_step() { return {"shdo"[below(4)], 4 + below(2), below(2), below(4) == 0}; }
  std::vector<Step> make_row() {
    static const std::vector<std::string> usual{"sh", "shd", "hd", "hs", "shsh", "sd", "o"};
    std::vector<Step> row;
    const unsigned parts = 1 + below(3);
    for (unsigned n = 0; n < parts; ++n) {
      const std::string& names = usual[below(usual.size())];
      const unsigned times = 1 + below(5), blocks = 4 + (below(5) == 0 ? 1 : 0);
      for (unsigned t = 0; t < times; ++t)
        for (const char name : names)
          row.push_back({name, blocks, below(40) == 0 ? 1U : 0U, below(40) == 0});
    }
    return row;
  }

  void repeat_one(std::vector<Step>& row) {
    const bool is_odd = below(8) == 0; // not as the others
    for (const Step& step : row)
      make(is_odd && below(row.size()) == 0 ? any_step() : step);
    if (below(12) != 0) compare();
    if (engine->merger() != nullptr) engine->merger()->settle();
    if (below(12) == 0) disturb();
    if (below(3) == 0) restore();
  }

  void restore() {
    engine->flush();
    gpu().managed = gpu().capturing = false;
    gpu().room = std::size_t{1} << 30;
    shared = 0;
  }

  void make(const Step& step) {
    size = test::points - step.less;
    void* parameters[] = {&v, &u, &size};
    struct {
      CUdeviceptr v, u;
      unsigned size;
    } bytes{v, u, size};
    std::size_t count = 20;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &count,
                     CU_LAUNCH_PARAM_END};
    Request request{reinterpret_cast<CUfunction>(module.functions[std::string(1, step.name)].get()),
                    {step.blocks, 1, 1},
                    {32, 1, 1},
                    shared,
                    stream,
                    parameters};
    if (step.is_extra) {
      request.parameters = nullptr;
      request.extra = extra;
    }
    EXPECT_EQ(engine->launch(request, test::direct), CUDA_SUCCESS);
    stage(step.name, plain_v, plain_u);
  }

  void compare() {
    engine->flush();
    ASSERT_EQ(words(v), plain_v);
    ASSERT_EQ(words(u), plain_u);
  }

  void disturb() {
    const unsigned kind = below(7);
    engine->flush(); // a call tells of it, or does it
    switch (kind) {
    case 0: gpu().managed = true; break;
    case 1: gpu().room = 0; break;
    case 2: engine->forget_handles(); break;
    case 3: stream = reinterpret_cast<CUstream>(0x80 + std::uintptr_t{0x40} * below(2)); break;
    case 4: gpu().capturing = true; break;
    case 5: shared = 16; break;
    case 6:
      module.functions.at("sh_passes")->most_threads = below(2) == 0 ? 31 : 1024;
      engine->forget_handles();
      break;
    default: break;
    }
  }

  std::mt19937 random_;
};

TEST_F(PassesFuzz, LeavesTheSame) {
  const char* const text = std::getenv("PTXASW_PASSES_FUZZ"); // NOLINT(concurrency-mt-unsafe)
  const char* const from = std::getenv("PTXASW_PASSES_SEED"); // NOLINT(concurrency-mt-unsafe)
  const unsigned count = text == nullptr ? 30 : static_cast<unsigned>(std::atoi(text)),
                 first = from == nullptr ? 1 : static_cast<unsigned>(std::atoi(from));
  for (unsigned seed = first; seed < first + count && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    play(seed);
  }
  EXPECT_GT(merged, 20 * count);
}

} // namespace
} // namespace ptxasw::launch
