// A row of places for each step, from what it reads at the top to the centre that is stored.
#include "report/steps_drawing.hpp"

#include "report/drawing.hpp"
#include "report/phrases.hpp"

#include <fmt/format.h>

namespace ptxasw::report {
namespace {

constexpr double left = 90, plot = 760, right = 30, top = 20, bar = 14, row = 20;

class Picture {
public:
  explicit Picture(const StepTile& tile) : tile_(tile) {}

  std::string run(const std::string& name) {
    for (unsigned step = 0; step <= tile_.count; ++step)
      put_step(step);
    put_cone();
    const double bottom = y_of(tile_.count) + bar;
    for (const unsigned side : {tile_.before, tile_.width - tile_.behind})
      line(x_of(side), top - 4, x_of(side), bottom + 4, "sector");
    text(x_of(tile_.before), bottom + 16, "note", std::to_string(tile_.before));
    text(x_of(tile_.width - tile_.behind), bottom + 16, "note",
         std::to_string(tile_.width - tile_.behind));
    text(x_of(tile_.width), bottom + 16, "note", std::to_string(tile_.width));
    return fmt::format("<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" role=\"img\" "
                       "aria-label=\"One tile of {2} over {3} steps\">\n{4}</svg>\n",
                       left + plot + right, bottom + 24, escaped(name), tile_.count, body_);
  }

private:
  [[nodiscard]] double x_of(double place) const { return left + place / tile_.width * plot; }
  static double y_of(unsigned step) { return top + step * row; }

  // What is right behind a step: everything of it was read where the last one was right.
  void put_step(unsigned step) {
    const unsigned first = step * tile_.reads_before,
                   last = tile_.width - step * tile_.reads_behind;
    text(left - 8, y_of(step) + bar - 3, "line",
         step == 0 ? "loaded" : fmt::format("step {}", step));
    rectangle(0, tile_.width, step, "kept");
    rectangle(first, last, step, "covered");
  }

  // What the middle of the centre rests on.
  void put_cone() {
    const double middle = (tile_.before + (tile_.width - tile_.behind)) / 2.0;
    for (unsigned step = 0; step <= tile_.count; ++step) {
      const unsigned back = tile_.count - step;
      rectangle(middle - back * tile_.reads_before, middle + back * tile_.reads_behind + 1, step,
                "source");
    }
  }

  void rectangle(double from, double to, unsigned step, const char* style) {
    body_ += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                         "height=\"{:.0f}\"/>\n",
                         style, x_of(from), y_of(step), x_of(to) - x_of(from), bar);
  }
  void line(double x, double y, double to_x, double to_y, const char* style) {
    body_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" "
                         "y2=\"{:.1f}\"/>\n",
                         style, x, y, to_x, to_y);
  }
  void text(double x, double y, const char* style, const std::string& said) {
    body_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", style, x, y,
                         escaped(said));
  }

  const StepTile& tile_;
  std::string body_;
};

} // namespace

std::string steps_svg(const KernelReport& kernel) {
  const StepTile& tile = kernel.step_tile;
  const bool has_centre = tile.count != 0 && tile.before + tile.behind < tile.width &&
                          tile.count * tile.reads_before <= tile.before &&
                          tile.count * tile.reads_behind <= tile.behind;
  return has_centre ? Picture(tile).run(display_name(kernel.name)) : "";
}

} // namespace ptxasw::report
