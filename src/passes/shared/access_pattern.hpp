// What the cost model is told about one access: its width and how its address moves from lane to
// lane.
#pragma once

#include "emulator/emulate.hpp"
#include "passes/shared/axis_polynomial.hpp"
#include "target/profile.hpp"

namespace ptxasw::passes {

inline target::Pattern access_pattern(const emulator::Event& event, const Stride& lane,
                                      const Stride& iteration = {}) {
  using Kind = Stride::Kind;
  target::Pattern result{.bytes = event.element_bytes * event.elements};
  if (lane.kind == Kind::constant) {
    result.lane = target::Lane::constant;
    result.stride = lane.bytes;
  } else if (lane.kind == Kind::parametric) {
    result.lane = target::Lane::parametric;
  }
  if (iteration.kind == Kind::constant) result.iteration_stride = iteration.bytes;
  return result;
}

// As a load that a shuffle over `delta` lanes would replace; 0: as it is. `far_apart`: lanes that
// lie a run-time distance apart are taken to lie in lines of their own.
inline target::ShuffleCandidate candidate(const target::Pattern& p, int delta = 0,
                                          bool far_apart = true) {
  target::ShuffleCandidate result{.bytes = p.bytes,
                                  .lane = p.lane,
                                  .sectors = target::sectors_of(p),
                                  .delta = delta,
                                  .far_apart = far_apart};
  if (p.lane == target::Lane::constant) result.lane_stride = p.stride;
  return result;
}

} // namespace ptxasw::passes
