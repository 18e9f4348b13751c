// What a variant is predicted to gain in one launch, now that grid and block are known.
//
// The contract says what it gains in launches of many waves with blocks of this size. A launch of
// few waves is another matter: fewer, longer blocks may fill the chip worse. With w waves (blocks
// over what the chip holds at a time) a launch takes as long as q(w) full ones, where q rounds
// small numbers up, because the last wave takes as long as a full one, and less than a wave takes
// as long as one. Many waves run into each other, and q(w) = w. So
//
//   gain = gain of many waves * (q(w) / w of the original) / (q(w) / w of the variant),
//
// where an original of less than a wave is given no such credit: few blocks run faster than many.
#pragma once

#include "launch/kernels.hpp"
#include "launch/shapes.hpp"

namespace ptxasw::launch {

// q(waves) / waves.
[[nodiscard]] double idle_share(double waves);

// Fills in `usable` and `predicted` by asking the driver for occupancies. An entry that would not
// launch, or takes a launch that the original would refuse, is not usable.
void describe_shape(const Kernel& kernel, Shape& shape);

// The variant with the best prediction, if it is worth a change; else 0.
[[nodiscard]] unsigned best_by_model(const Shape& shape);

} // namespace ptxasw::launch
