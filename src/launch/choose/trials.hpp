// What --policy=measure tries in which launch, and what it keeps.
//
// The model's choice runs until more is known. A loop of a few launches is over before it would pay
// to time one, so trials begin behind some, with the original and the choice. If the choice seems
// slower the original runs from then on. Everything else waits until it may be had: trials of a
// shape, the pauses that events make and the time that slower variants take longer, cost at most
// one per cent of the time of its launches so far. A variant that was not tried yet counts as one
// that takes twice as long.
//
// These two have a few more turns first: what runs from then on is no slower than the original, as
// far as that was seen.
//
// The fastest is the model's choice, or the original where that one was no worse, unless another is
// better by more than events can be wrong: by the least of its times, and its median must be among
// the better quarter of the other's. Short launches, of which an event tells less, are timed in
// turn with what they would replace before that is believed.
#pragma once

#include "launch/kernels/shapes.hpp"

#include <cstdint>

namespace ptxasw::launch {

// The variant whose turn it is in this launch; none where that is `chosen`, untimed.
// Changes `chosen`, and sets `decided` when nothing is left to be tried. The shape's mutex is held.
[[nodiscard]] unsigned next_trial(Shape& shape);

// The original and the model's choice were timed at least once, or are the same: what runs until
// more is known, `chosen`, is no slower than the other one. For launches of which some are tried no
// more, as they are merged. The shape's mutex is not held.
[[nodiscard]] bool knows_choice(Shape& shape);

// May next_trial() have anything for the launch of this number? Costs nothing.
[[nodiscard]] inline bool may_try(const Shape& shape, std::uint64_t number) {
  return !shape.decided.load(std::memory_order_acquire) &&
         number >= shape.next_trial.load(std::memory_order_relaxed);
}

// How many launches behind this one are as chosen for sure, and tried by nobody.
[[nodiscard]] std::uint64_t launches_until_trial(const Shape& shape);

// Microseconds that the trials of a shape cost up to now, those included that are not read yet.
[[nodiscard]] double spent(const Shape& shape);

} // namespace ptxasw::launch
