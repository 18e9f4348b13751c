// Which launches the report times, so that all of it costs less than one per cent of the run.
//
// Events around a launch cost the host some microseconds, and the device a pause between two
// kernels; a launch of the original costs what the variant would have saved. So no launch of a
// shape is timed until its last timing is 200 times what that one cost ago (and none before the
// shape is a millisecond or two old), and no original until 100 times what it lost. Time that went
// by unused is not saved up: a loop behind a long pause has one timing more at most.
#pragma once

#include "launch/kernels/shapes.hpp"

#include <chrono>

namespace ptxasw::launch {

// So many launches pass between two looks at the clock.
inline constexpr std::uint64_t launches_between_looks = 8;

// The variant with which the launch of this number is to be timed; no_variant: it is not.
[[nodiscard]] unsigned variant_to_sample(Shape& shape, std::uint64_t number);
// What the timing took, the launch itself included.
void sampled(Shape& shape, std::chrono::nanoseconds cost);

} // namespace ptxasw::launch
