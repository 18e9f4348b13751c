// Launches with shapes, sizes and arguments that are likely to tell kernels apart.
#include "simt/cases.hpp"

#include "simt/args.hpp"
#include "simt/code.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ptxasw::simt {

namespace {

constexpr LaunchShape usual_shapes[] = {
    {{1}, {32}},      {{3}, {64}},       {{2}, {100}},      {{1}, {1}},
    {{1}, {31}},      {{1}, {33}},       {{5}, {128}},      {{1}, {16, 16}},
    {{2, 3}, {8, 4}}, {{3, 2}, {32, 2}}, {{1}, {7, 5, 3}},  {{2, 2, 2}, {4, 4, 4}},
    {{4}, {256}},     {{2, 2}, {33, 3}}, {{1, 4}, {64, 1}}, {{1, 3, 2}, {48, 2, 1}},
    {{1}, {96, 2}},   {{2, 9}, {128}},   {{1}, {1024}},     {{1, 17}, {40}},
};

} // namespace

Cases::Cases(const Program& program, const VerifyOptions& options)
    : program_(program), options_(options), uses_(parameter_uses(program)) {
  find_known();
  if (options.grids.empty() && options.blocks.empty()) {
    for (const LaunchShape& shape : usual_shapes)
      add_shape(shape);
  } else {
    for (const Dim3& grid : options.grids.empty() ? std::vector<Dim3>{{1}} : options.grids)
      for (const Dim3& block : options.blocks.empty() ? std::vector<Dim3>{{32}} : options.blocks)
        add_shape({grid, block});
  }
}

std::vector<std::uint64_t> Cases::pointers() const {
  std::vector<std::uint64_t> places;
  for (const ParameterUse& use : uses_)
    if (use.pointer) places.push_back(use.place);
  return places;
}

// With all threads and blocks along axes that the kernel looks at; in other shapes they do the
// same work twice. What is asked for stays.
LaunchShape Cases::flat(LaunchShape shape) const {
  using S = ptx::Special;
  const auto reads = [&](S special) {
    return std::ranges::find(program_.specials, special) != program_.specials.end();
  };
  const auto flatten = [](Dim3& dim, bool y, bool z) {
    if (!z) dim.y *= std::exchange(dim.z, 1);
    if (!y) dim.x *= std::exchange(dim.y, 1);
  };
  if (program_.kernel->reqntid[0] == 0 && options_.blocks.empty())
    flatten(shape.block, reads(S::tid_y), reads(S::tid_z));
  if (options_.grids.empty()) flatten(shape.grid, reads(S::ctaid_y), reads(S::ctaid_z));
  return shape;
}
std::vector<LaunchShape> Cases::flat_shapes() const {
  std::vector<LaunchShape> all;
  for (const LaunchShape& shape : shapes_)
    if (std::ranges::find(all, flat(shape)) == all.end()) all.push_back(flat(shape));
  return all;
}

// Pointers that meet and threads that do the same work twice are our own idea, not the program's.
bool Cases::is_far_fetched(const VerifyLaunch& launch) const {
  const LaunchShape shape{launch.grid, launch.block};
  return flat(shape) != shape || std::ranges::any_of(launch.arguments, [](const auto& text) {
           return text.find("same:") != std::string::npos;
         });
}

void Cases::add_shape(const LaunchShape& shape) {
  const auto& f = *program_.kernel;
  std::uint64_t most = 1024;
  if (f.maxntid[0] != 0) {
    most = 1;
    for (const std::uint32_t n : f.maxntid)
      most *= std::max(n, 1U);
  }
  LaunchShape fitted = shape;
  if (f.reqntid[0] != 0)
    fitted.block = {f.reqntid[0], std::max(f.reqntid[1], 1U), std::max(f.reqntid[2], 1U)};
  const auto up = [](std::uint32_t n, std::uint32_t unit) { return (n + unit - 1) / unit * unit; };
  if (!options_.original_grid)
    fitted.grid = {up(shape.grid.x, options_.divide.x), up(shape.grid.y, options_.divide.y),
                   up(shape.grid.z, options_.divide.z)};
  if (fitted.block.count() <= most) shapes_.push_back(fitted);
}

// Numbers that the user gives as arguments.
void Cases::find_known() {
  for (const ParameterUse& use : uses_) {
    if (use.field || use.pointer || use.parameter >= options_.arguments.size()) continue;
    const std::string& text = options_.arguments[use.parameter];
    std::vector<std::string> texts(program_.kernel->parameters.size(), "0");
    texts[use.parameter] = text;
    Memory memory;
    const auto made = text == "?" || text.find(':') != std::string::npos || text.starts_with('@')
                          ? tl::expected<std::vector<Argument>, std::string>{}
                          : make_arguments(program_, texts, memory);
    if (!made || made->empty()) continue;
    std::uint64_t value = 0;
    const auto& bytes = (*made)[use.parameter].bytes;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    known_[use.place] = value;
  }
}

VerifyLaunch Cases::make(const Case& which, unsigned attempt) const {
  Random random(options_.seed * 1000003 + which.index);
  const LaunchShape& shape = which.way ? which.way->shape : shapes_[which.index % shapes_.size()];
  Guess guess{shape.grid, shape.block, options_.alias && random.one_in(4), attempt};
  if (which.way != nullptr) {
    // What is settled may be a size: the arrays grow, the other numbers shrink only at the end.
    constexpr unsigned log_bytes[] = {17, 20, 23, 25, 23};
    guess.buffer_bytes = std::uint64_t{1} << log_bytes[std::min(attempt, 4U)];
    guess.attempt = attempt == 4 ? 3 : 0;
    guess.fixed = which.way->values;
  }
  VerifyLaunch launch{shape.grid, shape.block, {}};
  launch.arguments = guess_arguments(program_, uses_, guess, random);
  for (std::size_t i = 0; i < options_.arguments.size() && i < launch.arguments.size(); ++i)
    if (options_.arguments[i] != "?") launch.arguments[i] = options_.arguments[i];
  return launch;
}

} // namespace ptxasw::simt
