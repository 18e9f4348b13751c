// What a stream was given: sequences that came, and what they take as they come and as graphs.
#include "launch/batch/batch.hpp"

#include "launch/log.hpp"
#include "launch/median.hpp"
#include "target/numbers.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

constexpr std::size_t shortest = 4, most_sequences = 64; // launches; of a lane
constexpr unsigned known_behind = 2;                     // times that a sequence came
// Passes as they come and as graphs, so many of each in a row, of which the first is not counted,
// until there are times enough of both: fewer, where they are clear.
constexpr unsigned passes_in_a_row = 8, few_passes = 6, enough_passes = 20;
constexpr unsigned most_missed = 8;
// More than every fourth launch has other threads wait, for so long.
constexpr unsigned for_each_crowded = 3, most_crowd = 1024;

bool begins_with(std::span<const GraphLaunch> all, std::span<const GraphLaunch> first) {
  return all.size() >= first.size() &&
         std::ranges::equal(all.first(first.size()), first,
                            [](const auto& a, const auto& b) { return a.same_kernel(b); });
}

} // namespace

bool Batcher::Sequence::wants_graph() const {
  return is_decided ? goes_out : passes / passes_in_a_row % 2 != 0;
}

bool Batcher::Sequence::add_time(bool as_graph, double microseconds) {
  if (is_decided) return false;
  if (passes % passes_in_a_row != 1) times[as_graph ? 1 : 0].push_back(microseconds);
  const std::size_t known = std::min(times[0].size(), times[1].size());
  if (known < few_passes) return false;
  const double singly = median(times[0]), together = median(times[1]);
  const bool is_clear = together <= numbers::launch::batch_clear * singly ||
                        together >= numbers::launch::batch_hopeless * singly;
  if (known < enough_passes && !is_clear) return false;
  is_decided = true;
  goes_out = together <= numbers::launch::batch_worth_it * singly;
  log("a sequence of %zu launches: %.1f us one by one, %.1f us as a graph", launches.size(), singly,
      together);
  return is_clear;
}

Batcher::Sequence* Batcher::Lane::find(std::size_t length, const GraphLaunch& next) const {
  Sequence* best = nullptr;
  for (const auto& sequence : sequences) {
    const std::span<const GraphLaunch> all = sequence->launches;
    if (sequence->seen < known_behind || sequence->missed > most_missed || all.size() <= length ||
        !all[length].same_kernel(next) ||
        (length != 0 && !begins_with(all, std::span(pass->launches).first(length))))
      continue;
    if (best == nullptr || all.size() > best->launches.size()) best = sequence.get();
  }
  return best;
}

// What was made between two other calls.
void Batcher::Lane::learn(const std::vector<GraphLaunch>& made) {
  if (made.size() < shortest || made.size() > longest) return;
  for (const auto& sequence : sequences)
    if (sequence->launches.size() == made.size() && begins_with(sequence->launches, made)) {
      ++sequence->seen;
      return;
    }
  if (sequences.size() >= most_sequences) {
    // A graph is for good: it may run still, and to destroy it could wait for that.
    const auto may_go = [&](const auto& sequence) {
      return sequence.get() != pass && sequence.get() != timed && sequence.get() != clocked &&
             !sequence->graph.is_built();
    };
    auto useless = std::ranges::find_if(sequences, [&](const auto& sequence) {
      return may_go(sequence) && (sequence->seen < known_behind || sequence->missed > most_missed);
    });
    if (useless == sequences.end()) useless = std::ranges::find_if(sequences, may_go); // the oldest
    if (useless == sequences.end()) return;
    sequences.erase(useless);
  }
  sequences.push_back(std::make_unique<Sequence>());
  sequences.back()->launches = made;
  sequences.back()->learned = Clock::now();
}

void Batcher::Lane::note_who_waits(bool others) {
  if (others)
    crowd += for_each_crowded;
  else if (crowd != 0)
    --crowd;
}

bool Batcher::Lane::is_crowded() const {
  return crowd > most_crowd;
}

void Batcher::Lane::end_segment() {
  learn(segment);
  segment.clear();
  end_row();
}

void Batcher::Lane::forget_made() {
  segment.clear();
  row.clear();
  passes_in_row = 0;
}

// Passes that come one behind the other are a longer sequence.
void Batcher::Lane::end_row() {
  if (passes_in_row > 1) learn(row);
  row.clear();
  passes_in_row = 0;
}

void Batcher::Lane::add_to_row(const Sequence& sequence) {
  if (2 * sequence.launches.size() > longest) return;
  if (row.size() + sequence.launches.size() > longest) end_row();
  for (const GraphLaunch& one : sequence.launches)
    row.push_back(one.without_parameters());
  ++passes_in_row;
}

} // namespace ptxasw::launch
