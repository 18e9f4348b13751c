// Random steps (step_form.hpp), of which many a one is refused: what is taken for a step has to
// leave what single launches leave. PTXASW_FORMS_FUZZ=N makes N of them, PTXASW_FORMS_SEED is the
// first, PTXASW_FORMS_TOLD=1 tells what became of each, 2 its text, too.
#include "passes/time_tile/step_case.hpp"
#include "passes/time_tile/step_form.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace ptxasw::step_forms {
namespace {

using test::StepHost;
using test::Stepped;

StepHost forms_host(const Stepped& stepped, const StepForm& form, unsigned nx, unsigned ny,
                    simt::Dim3 block, unsigned seed) {
  if (!form.planar) ny = 1;
  if (form.row_blocks) block.y = 1;
  if (!form.planar || form.by_rows) block = {block.x * block.y, 1, 1};
  simt::Dim3 grid{(nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y};
  if (form.by_block) block = {nx + seed % 3, 1, 1}, grid = {ny, 1, 1};
  if (form.by_rows) grid = {(nx * ny + block.x - 1) / block.x + seed % 2, 1, 1};
  if (seed % 4 == 0) ++grid.x;
  if (form.asks) nx = form.by_block ? block.x : grid.x * block.x;
  if (form.asks && form.planar) ny = form.by_block ? grid.x : grid.y * block.y;
  StepHost host{.stepped = stepped,
                .grid = grid,
                .block = block,
                .arguments = {0, 1, nx, ny, 2, 3, 4, 3, 0},
                .buffers = {},
                .pointers = {0, 1, 4, 5, 6},
                .structures = {{8, {}}}};
  if (seed % 16 < 3) host.arguments[4 + seed % 3] = seed % 5; // an array is another one, too
  constexpr std::array<std::uint64_t, 6> no_sizes{0, 1, 2, 0x7fffffff, 0x80000001, 0xffffffff};
  if (seed % 24 == 0) host.arguments[2 + seed / 24 % 2] = no_sizes[seed / 48 % no_sizes.size()];
  if (form.sweeps) host.grid.y = host.block.y = 1;
  if (form.walks && seed % 2 == 0) host.grid.x = (host.grid.x + 2) / 3; // else one place each
  const unsigned planes = form.deep ? 1 + seed % 3 : 1;
  host.grid.z = planes;
  const bool is_float = form.type.is_float();
  if (is_float) host.arguments[7] = form.type.bytes == 4 ? 0x3dcccccd : 0x3fb999999999999a;
  for (const unsigned word : {3U, 1U, 4U, 6U, 2U, 0U, 7U, 5U})
    host.structures[8].insert(host.structures[8].end(), {static_cast<std::uint8_t>(word), 0, 0, 0});
  const unsigned bytes = form.type.bytes, reach = form.reach(), places = nx * ny * planes;
  for (unsigned n = 0; n < 5; ++n) {
    const unsigned count = n < 2 ? places * form.fields() : places;
    auto& made = host.buffers.emplace_back(test::random_elements(count, bytes, is_float, seed + n));
    for (unsigned word = 0; word < count; ++word) {
      std::uint8_t* const element = &made[std::size_t{word} * bytes];
      const bool by_structure = form.layout == FormText::Layout::structures;
      const unsigned at = by_structure ? word * places / count : word % places;
      const unsigned x = at % nx, y = at / nx % ny;
      const bool rim =
          x < reach || x + reach >= nx || (form.planar && (y < reach || y + reach >= ny));
      if (form.small) std::fill_n(element + 1, bytes - 1, 0), *element &= 7;
      if (rim && form.has_rim_of_zeros() && (n == 2 || !form.has_mask()))
        std::fill_n(element, bytes, 0);
    }
  }
  return host;
}

// Of elements of two registers an entry loads both, where single launches load one.
std::set<std::uint64_t> elements(const Stepped& stepped, const std::set<std::uint64_t>& addresses) {
  std::uint64_t bytes = 1;
  for (const passes::StepArray& array : stepped.plan.arrays)
    if (array.parts == 2) bytes = array.bytes;
  std::set<std::uint64_t> begins;
  for (const std::uint64_t address : addresses)
    begins.insert(address / bytes * bytes);
  return begins;
}

// How often launches were merged. They leave what single ones leave, and load nothing else.
unsigned forms_merged(const Stepped& stepped, const StepForm& form, std::mt19937& random) {
  constexpr std::array<std::pair<unsigned, unsigned>, 8> sizes{
      {{3U, 3U}, {5U, 7U}, {7U, 5U}, {17U, 61U}, {61U, 23U}, {97U, 53U}, {128U, 41U}, {70U, 97U}}};
  constexpr std::array<simt::Dim3, 4> blocks{{{32, 4}, {16, 8}, {64, 1}, {8, 3}}};
  unsigned merged = 0;
  for (unsigned n = 0; n < 3; ++n) {
    const auto& [nx, ny] = sizes[random() % sizes.size()];
    const StepHost host = forms_host(stepped, form, nx, ny, blocks[random() % blocks.size()],
                                     static_cast<unsigned>(random()));
    const unsigned steps = stepped.entry.contract.count + 1 + static_cast<unsigned>(random() % 8);
    if (!host.fit_error().empty()) continue;
    StepHost::Outcome plain = host.run(steps, true);
    if (!plain.error.empty()) continue; // of no such size
    const StepHost::Outcome made = host.run(steps, false);
    const std::string what =
        fmt::format("{}x{}, blocks of {}x{}, {} steps", nx, ny, host.block.x, host.block.y, steps);
    EXPECT_EQ(made.error, "") << what;
    EXPECT_FALSE(simt::first_difference(plain.memory, made.memory)) << what;
    plain.loaded.merge(plain.stored);
    EXPECT_TRUE(stepped.plan.rotation || std::ranges::includes(elements(stepped, plain.loaded),
                                                               elements(stepped, made.loaded)))
        << what;
    merged += made.merged_launches;
  }
  return merged;
}

TEST(StepFormsFuzz, LeaveTheSame) {
  const unsigned count = test::number_of_seeds("PTXASW_FORMS_FUZZ", 40),
                 first = test::number_of_seeds("PTXASW_FORMS_SEED", 1);
  const unsigned told = test::number_of_seeds("PTXASW_FORMS_TOLD", 0);
  unsigned accepted = 0, merged = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const std::clock_t begin = std::clock();
    const StepForm form(seed);
    const testing::ScopedTrace trace(__FILE__, __LINE__, fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    constexpr std::array shapes{passes::StepShape{3, 32, 2, 8},  passes::StepShape{3, 32, 4, 8, 4},
                                passes::StepShape{3, 32, 4, 4},  passes::StepShape{3, 64, 1, 12},
                                passes::StepShape{6, 32, 2, 16}, passes::StepShape{3, 48, 2, 8, 2},
                                passes::StepShape{9, 64, 4, 16}};
    passes::StepShape shape =
        shapes[random() % (form.type.bytes * form.arrays > 4 ? 4 : shapes.size())];
    shape.lanes = random() % 4 == 0;
    const auto motion = random() % 10 == 0 ? passes::Motion::rotated : passes::Motion::exchanged;
    if (motion == passes::Motion::exchanged && shape.count == 6) shape.count = 5;
    if (told == 2) fmt::print("{}\n", form.text());
    const unsigned choice = random() % 8 == 0 ? 1 : 0;
    if (shape.lanes)
      shape.lanes = Stepped(form.text(), "k", shape, motion, choice).entry.refused.empty();
    Stepped stepped(form.text(), "k", shape, motion, choice);
    if (random() % 4 == 0) stepped.entry.contract.count = 3; // it is told
    const std::string refused = stepped.entry.refused.text;
    unsigned now = 0;
    if (refused.empty()) {
      ++accepted;
      now = forms_merged(stepped, form, random);
      merged += now;
      if (accepted % 16 == 1)
        test::expect_that_ptxas_takes(*stepped.both->text, fmt::format("forms_{}", seed));
    }
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(took, 10);
    if (told != 0) fmt::print("{} {:.2f}s {} {}\n", seed, took, now, refused);
    if (HasFailure()) {
      ADD_FAILURE() << form.text();
      return;
    }
  }
  EXPECT_GE(accepted, count / 5);
  EXPECT_GE(merged, count / 5);
}

} // namespace
} // namespace ptxasw::step_forms
