// The diagram as SVG. Inside a panel one unit across is a step (a group of threads) and one unit
// up is an element, so that everything is strokes of integer length: a hit is a vertical stroke one
// step wide, a line's stay a horizontal one as thick as the line has elements.
#include "cachesim/drawing.hpp"

#include "report/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ptxasw::cachesim {
namespace {

constexpr double margin = 64, head = 44, foot = 40, gap = 28, panel_width = 560;
constexpr std::uint64_t most_marks = 400'000, most_elements = 20'000, most_height = 720;

constexpr std::string_view style =
    "<style>text{font:12px sans-serif;fill:#222}.h{font-weight:bold}.e{text-anchor:end}"
    ".m{text-anchor:middle}path{fill:none}.stay{stroke:#c3c8cf}.hit{stroke:#1b1e23}"
    ".fetch{stroke:#e0352b}.frame{fill:#fff;stroke:#888}.band{stroke:#888;stroke-dasharray:3 3}"
    "</style>";

// A stretch of addresses that is shown, and where it begins on the axis, in elements.
struct Band {
  std::string name;
  std::uint64_t first = 0, last = 0; // addresses; whole lines, half open
  std::uint64_t at = 0;
};

std::string label(double x, double y, std::string_view style_name, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", style_name, x, y,
                     report::escaped(text));
}

} // namespace

CacheObserver CachePanel::observer() {
  return [this](const CacheEvent& event) {
    steps_ = event.step + 1;
    if (event.evicted) {
      const auto gone = since_.find(*event.evicted);
      if (gone != since_.end()) {
        stays_.push_back({gone->first, gone->second, event.step});
        since_.erase(gone);
      }
    }
    since_.emplace(event.line, event.step);
    if (marks_.size() <= most_marks)
      marks_.push_back({event.step, event.address, event.bytes, event.hit});
  };
}

class CacheDrawing {
public:
  CacheDrawing(std::vector<CachePanel>& panels, const std::vector<Region>& regions, unsigned group)
      : panels_(panels), time_(group <= 1 ? "time, in threads"
                                          : fmt::format("time, in groups of {} threads", group)) {
    for (CachePanel& panel : panels_) {
      for (const auto& [line, since] : panel.since_)
        panel.stays_.push_back({line, since, panel.steps_});
      panel.since_.clear();
      std::ranges::sort(panel.stays_, {}, [](const CachePanel::Stay& stay) {
        return std::pair(stay.line, stay.from);
      });
    }
    for (const Region& region : regions)
      add_band(region);
  }

  [[nodiscard]] bool drawable() const {
    if (bands_.empty() || panels_.empty() || height_ > most_elements) return false;
    return std::ranges::all_of(
        panels_, [](const CachePanel& panel) { return panel.marks_.size() <= most_marks; });
  }

  [[nodiscard]] std::string text() const {
    const auto count = static_cast<double>(panels_.size());
    const double width = margin + count * panel_width + (count - 1) * gap + 16;
    std::string body;
    for (std::size_t i = 0; i < panels_.size(); ++i)
      body += panel(panels_[i], margin + static_cast<double>(i) * (panel_width + gap));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" role=\"img\" aria-label=\"Address over time in a cache\">\n"
        "{2}\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{3}{4}{5}</svg>\n",
        width, head + pixels() + foot, style, axis(), body, legend());
  }

private:
  // The part of the region that is touched in any panel, in whole lines.
  void add_band(const Region& region) {
    const std::uint64_t size = panels_.front().cache_.line_bytes;
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (const CachePanel& panel : panels_)
      for (const CachePanel::Mark& mark : panel.marks_) {
        if (mark.address < region.base || mark.address - region.base >= region.bytes) continue;
        first = std::min(first, mark.address / size * size);
        last = std::max(last, (mark.address / size + 1) * size);
      }
    if (first >= last) return;
    bands_.push_back({region.name, first, last, height_});
    height_ += (last - first) / panels_.front().cache_.element_bytes;
  }

  [[nodiscard]] double pixels() const {
    return static_cast<double>(std::clamp<std::uint64_t>(height_ * 2, 40, most_height));
  }

  // Where an address stands, in elements from the top.
  [[nodiscard]] std::optional<std::uint64_t> place(std::uint64_t address) const {
    for (const Band& band : bands_)
      if (address >= band.first && address < band.last)
        return height_ - 1 - band.at - (address - band.first) / element();
    return std::nullopt;
  }
  [[nodiscard]] unsigned element() const { return panels_.front().cache_.element_bytes; }

  [[nodiscard]] std::string stays(const CachePanel& panel) const {
    const unsigned width = panel.cache_.width();
    std::string d;
    for (const CachePanel::Stay& stay : panel.stays_)
      if (const auto y = place(stay.line * panel.cache_.line_bytes))
        d += fmt::format("M{} {}h{}", stay.from, static_cast<double>(*y + 1) - width / 2.0,
                         std::max<std::uint64_t>(1, stay.to - stay.from));
    return fmt::format("<path class=\"stay\" stroke-width=\"{}\" d=\"{}\"/>\n", width, d);
  }

  // Marks of one kind; those of a step that touch are one stroke.
  [[nodiscard]] std::string marks(const CachePanel& panel, bool hit) const {
    struct Cell {
      std::uint64_t step, y;
      auto operator<=>(const Cell&) const = default;
    };
    std::vector<Cell> cells;
    for (const CachePanel::Mark& mark : panel.marks_) {
      if (mark.hit != hit) continue;
      std::uint64_t at = mark.address / element(),
                    last = (mark.address + mark.bytes - 1) / element();
      if (!hit) { // the whole line comes
        at -= at % panel.cache_.width();
        last = at + panel.cache_.width() - 1;
      }
      for (; at <= last; ++at)
        if (const auto y = place(at * element())) cells.push_back({mark.step, *y});
    }
    std::ranges::sort(cells);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    std::string d;
    for (std::size_t i = 0; i < cells.size();) {
      std::size_t end = i + 1;
      while (end < cells.size() && cells[end].step == cells[i].step &&
             cells[end].y == cells[end - 1].y + 1)
        ++end;
      d += fmt::format("M{}.5 {}v{}", cells[i].step, cells[i].y, end - i);
      i = end;
    }
    return fmt::format("<path class=\"{}\" d=\"{}\"/>\n", hit ? "hit" : "fetch", d);
  }

  [[nodiscard]] std::string panel(const CachePanel& panel, double x) const {
    const CacheCounts& counts = panel.counts_;
    const double below = head + pixels() + 16;
    return label(x, head - 24, "h", panel.title_) +
           label(x, head - 8, "n",
                 fmt::format("{} hits, {} fetches", counts.hits, counts.fetches)) +
           fmt::format("<rect class=\"frame\" x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"{2:.0f}\" "
                       "height=\"{3:.0f}\"/>\n<svg x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"{2:.0f}\" "
                       "height=\"{3:.0f}\" viewBox=\"0 0 {4} {5}\" preserveAspectRatio=\"none\">\n",
                       x, head, panel_width, pixels(), std::max<std::uint64_t>(1, panel.steps_),
                       height_) +
           stays(panel) + marks(panel, true) + marks(panel, false) + "</svg>\n" +
           label(x, below, "n", "0") + label(x + panel_width / 2, below, "m", time_) +
           label(x + panel_width, below, "e", std::to_string(panel.steps_));
  }

  [[nodiscard]] std::string axis() const {
    std::string text;
    const double unit = pixels() / static_cast<double>(height_);
    for (const Band& band : bands_) {
      const double low = head + pixels() - static_cast<double>(band.at) * unit;
      const double middle =
          low - static_cast<double>(band.last - band.first) / element() * unit / 2;
      text += label(margin - 8, middle, "e", band.name);
      if (band.at != 0)
        text += fmt::format("<path class=\"band\" d=\"M8 {:.0f}H{:.0f}\"/>\n", low, margin);
    }
    return text;
  }

  [[nodiscard]] std::string legend() const {
    const double y = head + pixels() + 24;
    std::string text;
    double x = margin;
    for (const auto& [colour, words] :
         {std::pair{"#e0352b", "brought in"}, std::pair{"#1b1e23", "hit"},
          std::pair{"#c3c8cf", "in the cache"}}) {
      text +=
          fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                      x, y, colour) +
          label(x + 15, y + 10, "n", words);
      x += 105;
    }
    return text;
  }

  std::vector<CachePanel>& panels_;
  std::string time_;
  std::vector<Band> bands_;
  std::uint64_t height_ = 0; // elements
};

std::string cache_svg(std::vector<CachePanel>& panels, const std::vector<Region>& regions,
                      unsigned group) {
  if (panels.empty()) return "";
  const CacheDrawing drawing(panels, regions, group);
  return drawing.drawable() ? drawing.text() : "";
}

} // namespace ptxasw::cachesim
