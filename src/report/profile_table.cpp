// One row for each shape; kernels without versions have one row.
#include "report/profile_table.hpp"

#include "profile/version_name.hpp"
#include "report/phrases.hpp"
#include "report/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ptxasw::report {
namespace {

using profile::Kernel;
using profile::Shape;

struct Row {
  double milliseconds = 0; // of all launches; 0: not timed
  std::uint64_t launches = 0;
  std::vector<std::string> cells;
};

double time_of(const Shape& shape) {
  const auto found = shape.versions.find(shape.chosen);
  return found == shape.versions.end() ? 0 : found->second.mean;
}

// "y:4 1.52"; empty: none gains anything.
template <class Allows> std::string best_of(const Shape& shape, const Allows& allows) {
  std::string_view best;
  double most = 1;
  for (const auto& [name, time] : shape.versions)
    if (const double gain = profile::gain_of(shape, name); allows(name) && gain > most) {
      best = name;
      most = gain;
    }
  return best.empty() ? "" : fmt::format("{} {:.2f}", best, most);
}

Row row_of(const Kernel& kernel, const Shape& shape) {
  const double each = time_of(shape), all = each * static_cast<double>(shape.launches) / 1000;
  return {all,
          shape.launches,
          {fmt::format("{}", shape.launches), each == 0 ? "" : fmt::format("{:.2f}", each),
           each == 0 ? "" : fmt::format("{:.2f}", all), shape.chosen,
           best_of(shape, [](std::string_view) { return true; }),
           best_of(shape, [](std::string_view name) { return profile::can_be_built(name); }),
           fmt::format("{}", fmt::join(shape.grid, "x")),
           fmt::format("{}", fmt::join(shape.block, "x")), display_name(kernel.name)}};
}

} // namespace

std::string table_of_profile(const profile::Profile& profile, unsigned width) {
  std::vector<Row> rows;
  for (const Kernel& kernel : profile.kernels) {
    for (const Shape& shape : kernel.shapes)
      rows.push_back(row_of(kernel, shape));
    if (kernel.launches != 0)
      rows.push_back({0,
                      kernel.launches,
                      {fmt::format("{}", kernel.launches), "", "", "no versions", "", "", "", "",
                       display_name(kernel.name)}});
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return std::pair(a.milliseconds, a.launches) > std::pair(b.milliseconds, b.launches);
  });
  Table table({{"launches", Align::right},
               {"us each", Align::right},
               {"ms", Align::right},
               {"version"},
               {"fastest"},
               {"in a build"},
               {"grid"},
               {"block"},
               {"kernel", Align::left, true}});
  std::uint64_t launches = 0;
  for (Row& row : rows) {
    launches += row.launches;
    for (std::string& cell : row.cells)
      cell = printable(cell);
    table.row(std::move(row.cells));
  }
  return fmt::format("{} ({}), {}: {}, {}\n\n{}", printable(profile.chip.name),
                     printable(profile.chip.architecture), plural(profile.runs, "run"),
                     plural(profile.kernels.size(), "kernel"),
                     launches == 1 ? "1 launch" : fmt::format("{} launches", launches),
                     table.render(width));
}

} // namespace ptxasw::report
