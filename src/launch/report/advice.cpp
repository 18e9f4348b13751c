// Looks for launches that an option is made for.
#include "launch/report/advice.hpp"

#include "launch/text.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

constexpr std::size_t most_names = 3;
// Launches of fewer microseconds lose by the gap between two, where there are so many of them.
constexpr unsigned is_short = 12, are_many = 1000;

std::uint64_t launches_of(Shapes& kernel) {
  std::uint64_t all = kernel.launches;
  for (const Shape* shape : kernel.all())
    all += shape->launches;
  return all;
}

// "a, b, c and 4 more".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t n = 0; n < std::min(names.size(), most_names); ++n)
    text += (n == 0 ? "" : ", ") + names[n];
  if (names.size() > most_names) text += formatted(" and %zu more", names.size() - most_names);
  return text;
}

std::vector<std::string> kernels_with_steps(const std::vector<std::shared_ptr<Shapes>>& kernels) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels)
    if (std::ranges::any_of(kernel->versions(), &contract::Listed::is_steps) &&
        launches_of(*kernel) > 1)
      names.push_back(kernel->kernel());
  return names;
}

struct Counted {
  std::uint64_t short_ones = 0, all = 0;
};

// Of launches that were timed.
Counted count_short(const std::vector<std::shared_ptr<Shapes>>& kernels) {
  Counted counted;
  for (const auto& kernel : kernels)
    for (Shape* shape : kernel->all()) {
      const std::lock_guard lock(shape->mutex);
      const Timing& timing = shape->timings[shape->chosen];
      if (timing.samples == 0) continue;
      counted.all += shape->launches;
      if (timing.least < is_short) counted.short_ones += shape->launches;
    }
  return counted;
}

} // namespace

std::vector<Advice> advise(const std::vector<std::shared_ptr<Shapes>>& kernels,
                           const Settings& settings) {
  std::vector<Advice> all;
  const auto with_steps = settings.steps ? std::vector<std::string>() : kernels_with_steps(kernels);
  if (!with_steps.empty())
    all.push_back({"--steps", "if the program exchanges arrays between launches of " +
                                  listed(with_steps) + ", several of them can be one"});
  const Counted counted = count_short(kernels);
  if (!settings.batch && counted.short_ones >= are_many && 2 * counted.short_ones > counted.all)
    all.push_back(
        {settings.early ? "--batch" : "--early --batch",
         formatted("%llu of %llu launches take less than %u microseconds each; those that "
                   "repeat in the same order can go out together",
                   static_cast<unsigned long long>(counted.short_ones),
                   static_cast<unsigned long long>(counted.all), is_short)});
  return all;
}

std::string advice_as_text(const std::vector<Advice>& all) {
  std::string text;
  for (const Advice& one : all)
    text += (text.empty() ? "what would help: ptxasw launch " : "or ") + one.option + ": " +
            one.why + '\n';
  return text;
}

std::string advice_as_json(const std::vector<Advice>& all) {
  std::string text = "[";
  for (const Advice& one : all)
    text += (text.size() == 1 ? "\n  {" : ",\n  {") + ("\"what\": " + quoted(one.option)) +
            ", \"text\": " + quoted(one.why) + '}';
  return text + "\n]";
}

} // namespace ptxasw::launch
