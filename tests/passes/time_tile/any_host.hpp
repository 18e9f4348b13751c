// A host for any step kernel: buffers for what it touches, one or two sizes for its numbers.
#pragma once

#include "passes/time_tile/offsets_text.hpp"
#include "passes/time_tile/step_case.hpp"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptxasw::test {

inline bool is_structure(const Stepped& stepped, unsigned number) {
  const ptx::Type type = stepped.kernel.body.function->parameters[number].type;
  return ptx::bit_width(type) / 8 != stepped.contract.places[number].size;
}

// By byte of the structure: what is loaded from there.
inline std::map<unsigned, ptx::Type> fields_of(const Stepped& stepped, unsigned number) {
  const ptx::Body& body = stepped.kernel.body;
  std::map<unsigned, ptx::Type> loaded;
  for (const ptx::Inst& inst : body.insts) {
    if (ptx::group(inst.op) != ptx::Group::load || inst.mods.space != ptx::Space::param) continue;
    const ptx::Address& address = body.addr(inst)[0];
    if (body.symbols[address.base.id].index != number) continue;
    for (unsigned n = 0; n < body.dst(inst).size(); ++n)
      loaded[static_cast<unsigned>(address.base.value) + static_cast<unsigned>(address.offset) +
             n * ptx::bit_width(inst.mods.type) / 8] = inst.mods.type;
  }
  return loaded;
}

// Sizes in turn, coefficients, buffers.
inline void add_structure(StepHost& host, unsigned number, std::size_t size, unsigned nx,
                          unsigned ny, const std::function<std::uint64_t()>& add_buffer) {
  std::vector<std::uint8_t>& bytes = host.structures[number];
  bytes.resize(size);
  unsigned sizes = 0;
  for (const auto& [byte, type] : fields_of(host.stepped, number)) {
    const unsigned part = contract::part(number, byte);
    const auto touched =
        std::ranges::find(host.stepped.plan.touched, part, &contract::Touched::parameter);
    std::uint64_t value = 0;
    if (touched != host.stepped.plan.touched.end()) {
      value = add_buffer();
      host.pointers.push_back(part);
    } else if (type == ptx::Type::f32) {
      value = 0x3dcccccd;
    } else if (type == ptx::Type::f64) {
      value = 0x3fb999999999999a;
    } else {
      value = sizes++ % 2 == 0 ? nx : ny;
    }
    std::memcpy(bytes.data() + byte, &value, ptx::bit_width(type) / 8);
  }
}

// nx and ny for numbers in turn. `room`: elements behind those of the grid.
inline StepHost host_for(const Stepped& stepped, unsigned nx, unsigned ny, simt::Dim3 block,
                         unsigned seed, unsigned room = 8) {
  const auto& names = stepped.kernel.body.function->parameters;
  unsigned numbers = 0;
  for (const auto& parameter : names)
    numbers += parameter.type == ptx::Type::u32 || parameter.type == ptx::Type::u64 ? 1 : 0;
  for (unsigned n = 0; n < names.size(); ++n)
    if (is_structure(stepped, n))
      for (const auto& [byte, type] : fields_of(stepped, n))
        numbers += type != ptx::Type::f32 && type != ptx::Type::f64 ? 1 : 0;
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
  for (unsigned axis = 0; axis < 2; ++axis) { // several trips of a loop
    const auto& walk = stepped.plan.walks.at(axis);
    unsigned& blocks = axis == 0 ? host.grid.x : host.grid.y;
    if (walk) blocks = walk->alone ? 1 : (blocks + 2) / 3;
    if (walk && walk->alone) (axis == 0 ? host.block.x : host.block.y) = 1;
  }
  unsigned bytes = 4, parts = 1;
  for (const passes::StepArray& array : stepped.plan.arrays) {
    bytes = array.bytes / array.parts;
    const auto fields = std::ranges::count(stepped.plan.arrays, array.out, &passes::StepArray::out);
    parts = std::max({parts, array.parts, static_cast<unsigned>(fields)});
  }
  unsigned sizes = 0;
  const auto add_buffer = [&] {
    host.buffers.push_back(random_elements((std::size_t{nx} * ny + room) * parts, bytes, bytes >= 4,
                                           seed + static_cast<unsigned>(host.buffers.size())));
    return host.buffers.size() - 1;
  };
  for (unsigned n = 0; n < parameters.size(); ++n) {
    const ptx::Type type = parameters[n].type;
    if (is_structure(stepped, n)) {
      host.arguments.push_back(0);
      add_structure(host, n, stepped.contract.places[n].size, nx, ny, add_buffer);
      continue;
    }
    std::uint64_t value = sizes % 2 == 0 ? nx : ny;
    if (arrays.contains(n)) {
      value = add_buffer();
      host.pointers.push_back(n);
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
