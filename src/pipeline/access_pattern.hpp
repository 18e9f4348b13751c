// What the cost model is told about one access: its width and how its address moves from lane to
// lane.
#pragma once

#include "access/relaxed.hpp"
#include "cost/profile.hpp"
#include "emulator/emulate.hpp"

namespace ptxasw::pipeline {

inline cost::Pattern access_pattern(const emulator::Event& event, const access::Stride& lane,
                                    const access::Stride& trip = {}) {
  using Kind = access::Stride::Kind;
  cost::Pattern result{.bytes = event.element_bytes * event.elements};
  if (lane.kind == Kind::constant) {
    result.lane = cost::Lane::constant;
    result.stride = lane.bytes;
  } else if (lane.kind == Kind::parametric) {
    result.lane = cost::Lane::parametric;
  }
  if (trip.kind == Kind::constant) result.trip_stride = trip.bytes;
  return result;
}

// As a load that a shuffle over `delta` lanes would replace; 0: as it is. `far_apart`: lanes that
// lie a run-time distance apart are taken to lie in lines of their own.
inline cost::ShuffleCandidate candidate(const cost::Pattern& p, int delta = 0,
                                        bool far_apart = true) {
  cost::ShuffleCandidate result{.bytes = p.bytes,
                                .lane = p.lane,
                                .sectors = cost::sectors_of(p),
                                .delta = delta,
                                .far_apart = far_apart};
  if (p.lane == cost::Lane::constant) result.lane_stride = p.stride;
  return result;
}

} // namespace ptxasw::pipeline
