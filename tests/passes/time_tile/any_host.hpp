// A host for any step kernel: buffers for what it touches, one or two sizes for its numbers.
#pragma once

#include "passes/time_tile/step_case.hpp"

#include <set>
#include <string>
#include <vector>

namespace ptxasw::test {

// nx and ny for numbers in turn.
inline StepHost host_for(const Stepped& stepped, unsigned nx, unsigned ny, simt::Dim3 block,
                         unsigned seed) {
  const auto& names = stepped.kernel.body.function->parameters;
  unsigned numbers = 0;
  for (const auto& parameter : names)
    numbers += parameter.type == ptx::Type::u32 || parameter.type == ptx::Type::u64 ? 1 : 0;
  std::set<unsigned> touched;
  for (const contract::Touched& one : stepped.plan.touched)
    touched.insert(one.parameter);
  if (numbers - touched.size() == 1) ny = nx; // one size
  const bool linear = stepped.plan.places[1] == passes::Place::none;
  if (linear) {
    block = {block.x * block.y, 1, 1};
    ny = 1;
  }
  const auto& parameters = stepped.kernel.body.function->parameters;
  std::set<unsigned> arrays;
  for (const contract::Touched& one : stepped.plan.touched)
    arrays.insert(one.parameter);
  StepHost host{.stepped = stepped,
                .grid = {(nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y},
                .block = block,
                .arguments = {},
                .buffers = {},
                .pointers = {}};
  if (stepped.plan.rows) { // a thread for each place, and some more
    host.block = {block.x * block.y, 1, 1};
    host.grid = {(nx * ny + host.block.x - 1) / host.block.x + 1, 1, 1};
  }
  unsigned bytes = 4;
  for (const passes::StepArray& array : stepped.plan.arrays)
    bytes = array.bytes;
  unsigned sizes = 0;
  for (unsigned n = 0; n < parameters.size(); ++n) {
    const ptx::Type type = parameters[n].type;
    std::uint64_t value = sizes % 2 == 0 ? nx : ny;
    if (arrays.contains(n)) {
      value = host.buffers.size();
      host.pointers.push_back(n);
      host.buffers.push_back(
          random_elements(std::size_t{nx} * ny + 8, bytes, bytes >= 4, seed + n));
    } else if (type == ptx::Type::f32) {
      value = 0x3dcccccd;
    } else if (type == ptx::Type::f64) {
      value = 0x3fb999999999999a;
    } else {
      ++sizes;
    }
    host.arguments.push_back(value);
  }
  return host;
}

} // namespace ptxasw::test
