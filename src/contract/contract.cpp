// What a contract may say, and what it says about gains.
#include "contract/contract.hpp"

#include "contract/fitting.hpp"
#include "contract/sequences.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ptxasw::contract {
namespace {

constexpr unsigned most_parameter_space = 1U << 16;
constexpr unsigned most_element = 16; // bytes
constexpr std::size_t most_axes = 3;
constexpr unsigned most_covered = 1U << 20, most_blocks_each = 1U << 10;

bool is_name(std::string_view word) {
  return !word.empty() && word.size() < 4096 &&
         std::ranges::all_of(word, [](char c) { return c > ' ' && c < 127; });
}

template <class Number> bool is_between(Number value, Number least, Number most) {
  return value >= least && value <= most;
}

// Each size from `least` on, and no more than `most` in all.
// What the parts of a contract are judged by: the parameters of its kernel.
class Judge {
public:
  explicit Judge(const Contract& contract) : c_(contract) {}

  [[nodiscard]] bool run() const {
    const auto holds = [this](const auto& part) { return is_sensible(part); };
    return is_name(c_.kernel) && c_.parameters <= most_parameters &&
           c_.parameter_bytes <= most_parameter_space && are_places() &&
           c_.accesses.size() <= most_accesses && c_.steps.size() <= most_step_entries &&
           is_between<std::size_t>(c_.variants.size(), 1, most_variants) &&
           c_.variants[0].entry == c_.kernel && std::ranges::all_of(c_.accesses, holds) &&
           std::ranges::all_of(c_.variants, holds) && std::ranges::all_of(c_.steps, holds) &&
           (!c_.copy || is_sensible(*c_.copy)) && c_.sequences.size() <= most_sequences &&
           std::ranges::all_of(c_.sequences, holds);
  }

private:
  // All of the parameters or none.
  [[nodiscard]] bool are_places() const {
    return (c_.places.empty() || c_.places.size() == c_.parameters) &&
           std::ranges::all_of(c_.places, [this](const ParameterSlot& place) {
             return std::uint64_t{place.offset} + place.size <= c_.parameter_bytes;
           });
  }

  static bool is_sensible(const Access& access) {
    return is_between(access.count, 1U, most_alike) && is_between(access.bytes, 1U, widest_access);
  }

  static bool is_sensible(const Variant& v) {
    const auto axes = std::ranges::count_if(v.divide, [](unsigned by) { return by > 1; });
    const bool is_undivided = axes == 0;
    if (!is_name(v.entry) || !is_name(v.name) || !is_shape(v.divide, 1, most_copies)) return false;
    if (v.rest == Rest::by_itself && axes != 1) return false;
    if (v.reshapes() && (!is_undivided || v.block[0] == 0 || v.block[2] > 64 ||
                         !is_shape(v.block, 0, largest_block)))
      return false;
    if (v.rows.count != 0 && (!is_between(v.rows.count, 2U, warp_lanes) || v.rows.axis == 0 ||
                              v.kind != Kind::remapped || v.rest != Rest::none || !is_undivided))
      return false;
    return are_gains(v.gains);
  }

  static bool are_gains(const std::vector<Gain>& gains) {
    constexpr double most = 1e3;
    unsigned before = 0;
    return std::ranges::all_of(gains, [&](const Gain& gain) {
      const bool is_next = gain.threads > std::exchange(before, gain.threads);
      return is_next && gain.threads <= largest_block &&
             std::ranges::all_of(gain.by_waves,
                                 [](double value) { return is_between(value, 0.0, most); });
    });
  }

  [[nodiscard]] bool is_sensible(const Steps& steps) const {
    return is_name(steps.entry) && is_between(steps.count, 3U, most_steps) &&
           (steps.rotation ? is_rotation(steps) : are_swaps(steps)) &&
           is_shape(steps.block, 1, largest_block) &&
           std::ranges::all_of(steps.covers,
                               [](unsigned n) { return is_between(n, 1U, most_covered); }) &&
           is_between(steps.blocks_each, 1U, most_blocks_each) &&
           (!steps.has_extents() ||
            std::ranges::all_of(steps.extents,
                                [this](const Expression& extent) { return is_within(extent); })) &&
           are_sensible(steps.conditions) && are_sensible(steps.touched) &&
           std::ranges::all_of(steps.variables,
                               [](const Variable& variable) {
                                 return is_name(variable.name) && variable.bytes != 0 &&
                                        variable.bytes <= std::uint64_t{1} << 40;
                               }) &&
           (!steps.stored || (steps.swaps.size() == 1 && is_sensible(*steps.stored)));
  }

  [[nodiscard]] bool are_swaps(const Steps& steps) const {
    std::vector<unsigned> arrays;
    for (const auto& [in, out] : steps.swaps)
      arrays.insert(arrays.end(), {in, out});
    return !arrays.empty() && are_pointers(std::move(arrays)) && steps.count % 2 != 0;
  }

  [[nodiscard]] bool is_rotation(const Steps& steps) const {
    const auto& [old, now, next] = *steps.rotation;
    return steps.swaps.empty() && are_pointers({old, now, next}) && steps.count % 3 == 0;
  }

  // And no two are one.
  [[nodiscard]] bool are_pointers(std::vector<unsigned> parts) const {
    std::ranges::sort(parts);
    return std::ranges::adjacent_find(parts) == parts.end() &&
           std::ranges::all_of(parts, [this](unsigned part) { return is_pointer(part); });
  }

  [[nodiscard]] bool is_sensible(const Sequence& sequence) const {
    if (!is_of_stages(sequence)) return false;
    std::vector<Contract> kernels; // of the stages, as far as parts of a sequence hang on them
    for (const Sequence::Stage& stage : sequence.stages) {
      kernels.push_back({.kernel = stage.kernel,
                         .parameters = static_cast<unsigned>(stage.places.size()),
                         .parameter_bytes = most_parameter_space,
                         .places = stage.places});
      const Judge own(kernels.back());
      if (!is_name(stage.kernel) || stage.places.size() > most_parameters || !own.are_places() ||
          !own.are_sensible(stage))
        return false;
    }
    const auto is_there = [&](const Sequence::Part& part, unsigned bytes) {
      return part.stage < kernels.size() && Judge(kernels[part.stage]).is_within(part.part, bytes);
    };
    const auto is_array = [&](const Sequence::Part& part) {
      return part.stage < kernels.size() && Judge(kernels[part.stage]).is_pointer(part.part);
    };
    const auto are_there = [&](const Sequence::Equal& one) {
      return is_between(one.bytes, 1U, 8U) && is_there(one.a, one.bytes) &&
             is_there(one.b, one.bytes);
    };
    const auto is_whole = [&](const Sequence::Part& part) {
      return is_there(part, 4) && byte_of(part.part) == 0 &&
             is_one_value(sequence.stages[part.stage].places[number_of(part.part)].size);
    };
    return std::ranges::all_of(sequence.equal, are_there) &&
           std::ranges::all_of(sequence.arrays, is_array) && are_elements(sequence, kernels) &&
           sequence.varying.size() <= most_varying && are_apart(sequence) &&
           std::ranges::all_of(sequence.varying, is_whole);
  }

  // As far as that does not hang on what the stages are.
  [[nodiscard]] bool is_of_stages(const Sequence& sequence) const {
    const auto& [entry, count, waits, block, covers, stages, equal, same_threads, arrays, elements,
                 varying] = sequence;
    return is_name(entry) && is_between(count, 1U, most_steps) &&
           is_shape(block, 1, largest_block) &&
           std::ranges::all_of(covers,
                               [](unsigned n) { return is_between(n, 1U, most_covered); }) &&
           is_between<std::size_t>(stages.size(), 2, most_stages) &&
           stages[0].kernel == c_.kernel && !arrays.empty() && elements.size() == arrays.size();
  }

  static bool are_elements(const Sequence& sequence, const std::vector<Contract>& kernels) {
    for (std::size_t n = 0; n < sequence.arrays.size(); ++n) {
      const auto& [bytes, strides] = sequence.elements[n];
      const Judge stage(kernels[sequence.arrays[n].stage]);
      if (!is_between(bytes, 1U, 8U) || !std::ranges::all_of(strides, [&](const Expression& one) {
            return one.empty() || stage.is_within(one);
          }))
        return false;
    }
    return true;
  }

  // What has one value in all passes does not vary.
  static bool are_apart(const Sequence& sequence) {
    return std::ranges::none_of(sequence.varying, [&](const Sequence::Part& part) {
      const auto is_it = [&](const Sequence::Part& other) {
        return other.stage == part.stage && number_of(other.part) == number_of(part.part);
      };
      return std::ranges::any_of(sequence.arrays, is_it) ||
             std::ranges::any_of(sequence.equal, [&](const Sequence::Equal& equal) {
               return is_it(equal.a) || is_it(equal.b);
             });
    });
  }

  [[nodiscard]] bool are_sensible(const Sequence::Stage& stage) const {
    return are_sensible(stage.conditions) && are_sensible(stage.touched) &&
           is_between<std::size_t>(stage.boxes.size(), 1, most_boxes) &&
           std::ranges::all_of(
               stage.boxes, [this](const Sequence::Stage::Box& box) { return is_sensible(box); });
  }

  [[nodiscard]] bool is_sensible(const Sequence::Stage::Box& box) const {
    const auto is_said = [this](const std::array<Expression, 3>& along) {
      return std::ranges::all_of(along, [this](const Expression& one) { return is_within(one); });
    };
    const bool has_none =
        std::ranges::all_of(box.extents, [](const Expression& one) { return one.empty(); });
    return (has_none || is_said(box.extents)) && is_said(box.first) && is_said(box.end);
  }

  [[nodiscard]] bool are_sensible(const std::vector<Touched>& all) const {
    return std::ranges::all_of(all, [this](const Touched& touched) {
      return is_pointer(touched.parameter) && is_within(touched.begin) && is_within(touched.end);
    });
  }

  [[nodiscard]] bool is_sensible(const CopyKernel& copy) const {
    return are_pointers({copy.from, copy.to}) && is_sensible(copy.elements) &&
           are_sensible(copy.conditions);
  }

  [[nodiscard]] bool is_sensible(const Elements& elements) const {
    return is_between(elements.bytes, 1U, most_element) && is_within(elements.begin) &&
           elements.along.size() <= most_axes &&
           std::ranges::all_of(elements.along, [this](const Elements::Along& along) {
             return is_within(along.stride) && is_within(along.count);
           });
  }

  [[nodiscard]] bool are_sensible(const std::vector<Condition>& conditions) const {
    return std::ranges::all_of(conditions, [this](const Condition& condition) {
      return is_within(condition.value) && !condition.otherwise.empty();
    });
  }

  // Two pointers do not overlap.
  [[nodiscard]] bool is_pointer(unsigned part) const {
    return is_within(part, 8) && byte_of(part) % 8 == 0;
  }
  [[nodiscard]] bool is_within(unsigned part, unsigned bytes) const {
    return number_of(part) < c_.places.size() &&
           byte_of(part) + bytes <= c_.places[number_of(part)].size;
  }
  [[nodiscard]] bool is_within(const Expression& expression) const {
    return !expression.empty() && std::ranges::all_of(expression, [this](const Token& token) {
      return token.kind != Token::Kind::parameter ||
             is_within(static_cast<unsigned>(token.value), 1);
    });
  }

  const Contract& c_;
};

// The value at x, linear in the logarithm of x between the places that are known.
double interpolated(auto begin, auto end, auto values, double x) {
  const auto above = std::lower_bound(begin, end, x);
  if (above == begin) return *values;
  const auto value = values + (above - begin);
  if (above == end) return *(value - 1);
  const double share = std::log(x / *(above - 1)) / std::log(*above / *(above - 1));
  return *(value - 1) + share * (*value - *(value - 1));
}

} // namespace

bool is_sensible(const Contract& contract) {
  return Judge(contract).run();
}

std::string symbol_of(std::string_view kernel) {
  return std::string(symbol_prefix) + std::string(kernel);
}

double gain_of(const Variant& variant, unsigned threads, double of_waves) {
  const auto& gains = variant.gains;
  if (gains.empty()) return 0;
  const auto by_waves = [&](const Gain& gain) {
    return interpolated(waves.begin(), waves.end(), gain.by_waves.begin(), of_waves);
  };
  std::vector<double> blocks, values;
  for (const Gain& gain : gains) {
    blocks.push_back(gain.threads);
    values.push_back(by_waves(gain));
  }
  return interpolated(blocks.begin(), blocks.end(), values.begin(), threads);
}

} // namespace ptxasw::contract
