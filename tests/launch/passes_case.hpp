// Passes through a sequence of several kernels: kernels of a fake program and their contract,
// entries that do several passes, and how the launches were made.
#pragma once

#include "fixture.hpp"
#include "stencil.hpp"

#include "contract/sequences.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ptxasw::launch::test {

// (v, u, n) of all kernels.
class PassesTest : public EngineTest {
protected:
  using Words = std::vector<unsigned>;

  // What the kernels do within the rim: `s` changes v by u, `h` changes u by v, `d` both by itself.
  static void stage(char name, Words& v, Words& u) {
    const Words old = name == 'h' ? v : u;
    for (unsigned i = 1; i + 1 < points; ++i) {
      if (name == 's') v[i] = 3 * v[i] + old[i - 1] + 2 * old[i + 1] + 1;
      if (name == 'h') u[i] = 5 * u[i] + old[i - 1] + old[i + 1];
      if (name == 'd') v[i] = 7 * v[i] + 1;
    }
  }
  static Words words(CUdeviceptr at) {
    const auto* const first = reinterpret_cast<const unsigned*>(at);
    return {first, first + points};
  }
  // Within the rim.
  static void store(const Words& from, CUdeviceptr at) {
    std::copy(from.begin() + 1, from.end() - 1, reinterpret_cast<unsigned*>(at) + 1);
  }
  static contract::Sequence::Stage stage_of(char name) {
    const auto touched = [](unsigned part, bool written) {
      return contract::Touched{part, written, expression("0"), expression("p2s32,4,*")};
    };
    return {.kernel = std::string(1, name),
            .places = {{0, 8}, {8, 8}, {16, 4}},
            .conditions = {{expression("p2s32,3,-"), "nothing to do"}},
            .touched = {touched(0, name != 'h'), touched(1, name == 'h')},
            .boxes = {{.extents = {},
                       .first = {expression("0"), expression("0"), expression("0")},
                       .end = {expression("p2s32"), expression("1"), expression("1")}}}};
  }
  static contract::Sequence sequence_of(const std::string& names, unsigned count) {
    contract::Sequence made{.entry = names + "_passes", .count = count, .waits = false};
    made.block = {32, 1, 1};
    made.covers = {16, 1, 1};
    for (unsigned n = 0; n < names.size(); ++n) {
      made.stages.push_back(stage_of(names[n]));
      if (n != 0)
        for (const unsigned number : {0U, 1U, 2U})
          made.equal.push_back({{0, number}, {n, number}, number == 2 ? 4U : 8U});
    }
    made.arrays = {{0, 0}, {0, 1}};
    made.elements = {{4, {expression("4")}}, {4, {expression("4")}}};
    return made;
  }

  PassesTest() {
    for (const char name : std::string("shdo"))
      add(name);
    contract.sequences = {sequence_of("sh", 4), sequence_of("shd", 4)};
    keep_contract();
    add_entry("sh");
    add_entry("shd");
    for (const CUdeviceptr at : {v, u})
      for (unsigned i = 0; i < points; ++i)
        reinterpret_cast<unsigned*>(at)[i] = (at == v ? 3 : 5) * i * i + 1;
    plain_v = words(v);
    plain_u = words(u);
  }
  ~PassesTest() override {
    engine.reset();
    gpu().managed = false;
    gpu().room = std::size_t{1} << 30;
  }
  void add(char name) {
    fake::Function& made = gpu().add(module, std::string(1, name), {8, 8, 4});
    made.run = [name](const fake::Launched& launch) {
      const auto at_v = value_of<CUdeviceptr>(launch.parameters[0]),
                 at_u = value_of<CUdeviceptr>(launch.parameters[1]);
      Words of_v = words(at_v), of_u = words(at_u);
      stage(name, of_v, of_u);
      if (name != 'h') store(of_v, at_v);
      if (name == 'h') store(of_u, at_u);
    };
  }
  void keep_contract() { module.globals[contract::symbol_of("s")] = contract::encode(contract); }
  // What an entry does whose places are `to`. What lies on the rim, which no stage stores to, is in
  // the program's arrays.
  static void go_through(const fake::Launched& launch, const std::vector<unsigned char>& to,
                         const auto& passes) {
    const std::array at{value_of<contract::ArrayPlace>(to, 0),
                        value_of<contract::ArrayPlace>(to, 1)};
    std::array<Words, 2> now;
    for (unsigned n = 0; n < 2; ++n) {
      now.at(n) = words(value_of<CUdeviceptr>(launch.parameters[n]));
      const Words read = words(at.at(n).read);
      std::copy(read.begin() + 1, read.end() - 1, now.at(n).begin() + 1);
    }
    passes(now[0], now[1]);
    store(now[0], at[0].write);
    store(now[1], at[1].write);
  }
  // `more`: boxes than stages.
  void add_entry(const std::string& names, std::size_t more = 0) {
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n < names.size(); ++n)
      sizes.insert(sizes.end(), {8, 8, 4});
    sizes.insert(sizes.end(),
                 {4 * (3 * (names.size() + more) + 1), 2 * sizeof(contract::ArrayPlace)});
    fake::Function& made = gpu().add(module, names + "_passes", sizes);
    made.run = [names](const fake::Launched& launch) {
      go_through(launch, launch.parameters.back(), [&](Words& now_v, Words& now_u) {
        for (unsigned n = 0; n < told(launch); ++n)
          for (const char name : names)
            stage(name, now_v, now_u);
      });
    };
  }
  // Nothing is too young, or all of it.
  void begin(const std::string& words = "no-images,steps=60000000", unsigned tries_behind = 0) {
    Settings settings = read_settings(words);
    settings.tries_behind = tries_behind;
    engine = std::make_unique<Engine>(settings);
    launch_all("o");
    gpu().launches.clear();
  }

  void launch_by(const Launch& by, char name, unsigned blocks = 4) {
    void* parameters[] = {&v, &u, &size};
    EXPECT_EQ(
        engine->launch({reinterpret_cast<CUfunction>(module.functions[std::string(1, name)].get()),
                        {blocks, 1, 1},
                        {32, 1, 1},
                        shared,
                        stream,
                        parameters},
                       by),
        CUDA_SUCCESS);
    stage(name, plain_v, plain_u);
  }
  void launch(char name, unsigned blocks = 4) { launch_by(direct, name, blocks); }
  void launch_all(const std::string& names, unsigned times = 1) {
    for (unsigned t = 0; t < times; ++t)
      for (const char name : names)
        launch(name);
  }
  void other_call() {
    engine->flush();
    EXPECT_EQ(words(v), plain_v);
    EXPECT_EQ(words(u), plain_u);
  }
  // So often that it is known whether it gains.
  void repeat(const std::string& names, unsigned times) {
    for (unsigned t = 0; t < 24; ++t) {
      launch_all(names, times);
      other_call();
      if (engine->merger() != nullptr) engine->merger()->settle();
    }
  }
  void learn(const std::string& names, unsigned times) {
    repeat(names, times);
    gpu().launches.clear();
  }
  // How the launches since the last call were made: a stage, or how many passes an entry did.
  static std::string how() {
    std::string all;
    for (const fake::Launched& one : launched())
      all += one.entry.size() == 1 ? one.entry : std::to_string(told(one));
    return all;
  }
  static unsigned told(const fake::Launched& one) {
    const auto& threads = one.parameters[one.parameters.size() - 2];
    return value_of<unsigned>(threads, threads.size() / 4 - 1);
  }
  std::string pass(const std::string& names, unsigned times) {
    launch_all(names, times);
    other_call();
    return how();
  }
  // How something is made that was done often enough before.
  static std::string learnt(const auto& launch_some) {
    for (unsigned t = 0; t < 24; ++t)
      launch_some();
    how();
    launch_some();
    return how();
  }
  std::string learnt_pass(const std::string& names, unsigned times) {
    learn(names, times);
    return pass(names, times);
  }

  fake::Module& module = gpu().add_module();
  contract::Contract contract{.kernel = "s",
                              .parameters = 3,
                              .parameter_bytes = 20,
                              .places = {{0, 8}, {8, 8}, {16, 4}},
                              .variants = {{.entry = "s", .name = "original"}}};
  // With room for arrays that begin a word later.
  std::vector<unsigned char>&a = gpu().allocate(4 * (points + 1)),
                       &b = gpu().allocate(4 * (points + 1));
  CUdeviceptr v = reinterpret_cast<CUdeviceptr>(a.data()),
              u = reinterpret_cast<CUdeviceptr>(b.data());
  unsigned size = points, shared = 0;
  CUstream stream = reinterpret_cast<CUstream>(0x80);
  Words plain_v, plain_u; // what plain launches leave
  std::unique_ptr<Engine> engine;
};

} // namespace ptxasw::launch::test
