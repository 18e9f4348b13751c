// Drawing loads as lanes over addresses. The horizontal axis counts steps of the lane stride, so a
// load from lane + N lies N cells to the right of its source; across a family with a small constant
// stride, lines show where 32-byte sectors end (with the first lane taken as aligned).
#include "report/drawing.hpp"

#include "report/phrases.hpp"

#include "target/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace ptxasw::report {
namespace {

constexpr int lanes = 32;
constexpr double left = 78, plot = 640, right = 214; // widths
constexpr double row_height = 17, cell_height = 13, family_gap = 11;

// The delta, within what a warp can have.
int delta_of(const AccessReport& access) {
  return std::clamp(access.delta, -lanes, lanes);
}

struct Frame {
  int first = 0, last = lanes; // steps shown, half open
  [[nodiscard]] double pitch() const { return plot / (last - first); }
  [[nodiscard]] double x(int step) const { return left + (step - first) * pitch(); }
};

Frame frame_of(const std::vector<Family>& all) {
  Frame frame;
  for (const auto& family : all)
    for (const auto& strip : family) {
      frame.first = std::min(frame.first, strip.offset);
      frame.last = std::max(frame.last, strip.offset + lanes);
    }
  return frame;
}

// Part of its step that a lane's cell fills: the width of the access against the stride.
double filled(const AccessReport& access) {
  if (!access.lane_stride || *access.lane_stride == 0) return access.lane_stride ? 1.0 : 0.4;
  const double stride = std::abs(static_cast<double>(*access.lane_stride));
  return std::clamp(access.bytes / stride, 0.25, 1.0);
}

class Cells {
public:
  Cells(const Frame& frame, const Strip& strip, double y) : frame_(frame), strip_(strip), y_(y) {}

  // The lanes of [begin, end), as one path.
  [[nodiscard]] std::string path(std::string_view style, int begin, int end) const {
    if (begin >= end) return "";
    const double width = std::max(2.0, frame_.pitch() * filled(*strip_.access) - 1);
    std::string d;
    for (int lane = begin; lane < end; ++lane)
      d += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.0f}h-{:.1f}z", x(lane), y_, width, cell_height,
                       width);
    return fmt::format("<path class=\"{}\" d=\"{}\"/>", style, d);
  }

  [[nodiscard]] std::string numbers() const {
    std::string text;
    if (frame_.pitch() * filled(*strip_.access) < 12) return text;
    for (const int lane : {0, 4, 8, 12, 16, 20, 24, 28, 31})
      text += fmt::format("<text class=\"lane\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                          x(lane) + frame_.pitch() / 2 - 0.5, y_ + cell_height - 3.5, lane);
    return text;
  }

private:
  [[nodiscard]] double x(int lane) const {
    if (strip_.access->access != AccessClass::random) return frame_.x(lane + strip_.offset);
    const int somewhere = (lane * 37 + 11) % 101; // a fixed scatter
    return frame_.x(0) + somewhere / 101.0 * lanes * frame_.pitch();
  }

  const Frame& frame_;
  const Strip& strip_;
  double y_;
};

std::string shuffled_cells(const Cells& cells, int delta) {
  const int corner = std::abs(delta);
  const bool up = delta > 0; // the last lanes have no partner, else the first
  return cells.path("covered", up ? 0 : corner, up ? lanes - corner : lanes) +
         cells.path("corner", up ? lanes - corner : 0, up ? lanes : corner);
}

std::string cells_of(const Frame& frame, const Strip& strip, double y, bool supplies) {
  const auto& access = *strip.access;
  const Cells cells(frame, strip, y);
  if (access.outcome == Outcome::shuffled)
    return shuffled_cells(cells, delta_of(access)) + cells.numbers();
  const bool moved = access.outcome == Outcome::moved || access.outcome == Outcome::carried;
  const auto style = moved ? "moved" : supplies ? "source" : "kept";
  if (access.access == AccessClass::uniform) return cells.path(style, 0, 1);
  return cells.path(style, 0, lanes) + cells.numbers();
}

std::string side_note(const AccessReport& access, std::size_t family_size) {
  switch (access.outcome) {
  case Outcome::shuffled:
    return fmt::format("lane{:+} of line {}", access.delta, access.source_ptx_line);
  case Outcome::moved: return fmt::format("register of line {}", access.source_ptx_line);
  case Outcome::carried: return fmt::format("line {}, trip before", access.source_ptx_line);
  case Outcome::kept: break;
  }
  std::string text(target::name(access.access));
  if (access.lane_stride && *access.lane_stride != 0)
    text += fmt::format(", {} B apart", *access.lane_stride);
  if (family_size > 1) text += fmt::format(", feeds {}", family_size - 1);
  return text;
}

std::string label(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.1f}\">{}</text>", style, x,
                     y + cell_height - 3, escaped(text));
}

std::string strip_of(const Frame& frame, const Strip& strip, double y, std::size_t family_size) {
  const auto& access = *strip.access;
  return fmt::format("<g><title>line {}: {}, {}</title>{}<a href=\"#L{}\">{}</a>{}</g>\n",
                     access.ptx_line, escaped(operation(access)), escaped(access.address),
                     cells_of(frame, strip, y, family_size > 1), access.ptx_line,
                     label(left - 10, y, "line", fmt::format("line {}", access.ptx_line)),
                     label(left + plot + 10, y, "note", side_note(access, family_size)));
}

// Lines across a family where one 32-byte sector ends and the next begins.
std::string sector_ends(const Frame& frame, const Family& family, double y) {
  const auto stride = family.front().access->lane_stride.value_or(0);
  const auto distance = std::abs(static_cast<double>(stride));
  if (distance == 0 || distance >= target::sector_bytes) return "";
  const double step = target::sector_bytes / distance * frame.pitch();
  const double height = static_cast<double>(family.size()) * row_height;
  const auto [first, last] =
      std::minmax_element(family.begin(), family.end(),
                          [](const Strip& a, const Strip& b) { return a.offset < b.offset; });
  double x = frame.x(0) - 0.5;
  while (x - step >= frame.x(first->offset) - 1)
    x -= step;
  std::string d;
  for (; x <= frame.x(last->offset + lanes); x += step)
    d += fmt::format("M{:.1f} {:.1f}v{:.1f}", x, y - 2, height);
  return fmt::format("<path class=\"sector\" d=\"{}\"/>\n", d);
}

} // namespace

std::vector<Family> families(const KernelReport& kernel) {
  struct Place {
    std::size_t family = 0;
    int offset = 0;
  };
  std::vector<Family> all;
  std::unordered_map<std::uint32_t, Place> places; // by PTX line, the latest
  for (const auto& access : kernel.accesses) {
    if (access.is_store) continue;
    Place place{all.size(), 0};
    const auto source = places.find(access.source_ptx_line);
    if (access.outcome != Outcome::kept && source != places.end())
      place = {source->second.family,
               std::clamp(source->second.offset + delta_of(access), -2 * lanes, 2 * lanes)};
    if (place.family == all.size()) all.emplace_back();
    all[place.family].push_back({&access, place.offset});
    places[access.ptx_line] = place;
  }
  return all;
}

std::string lanes_svg(const KernelReport& kernel) {
  auto all = families(kernel);
  if (all.empty()) return "";
  std::size_t strips = 0;
  std::erase_if(all, [&](const Family& family) { return (strips += family.size()) > most_strips; });
  if (all.empty()) return "";
  const Frame frame = frame_of(all);
  std::string body;
  double y = 4;
  for (const auto& family : all) {
    const double top = y;
    for (const auto& strip : family) {
      body += strip_of(frame, strip, y, family.size());
      y += row_height;
    }
    body += sector_ends(frame, family, top);
    y += family_gap;
  }
  return fmt::format("<svg viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" role=\"img\" "
                     "aria-label=\"Loads of {2} as lanes over addresses\">\n{3}</svg>\n",
                     left + plot + right, y - family_gap + 4, escaped(display_name(kernel.name)),
                     body);
}

namespace {

// Bytes of the well-formed UTF-8 sequence of more than one byte that `text` begins with; 0: none.
std::size_t sequence(std::string_view text) {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t n = 1; n < length; ++n)
    if ((byte(n) & 0xc0) != 0x80) return 0;
  const unsigned first = byte(0) << 8 | byte(1); // overlong, surrogates, beyond U+10FFFF
  const bool outside = (first >= 0xe000 && first < 0xe0a0) || (first >= 0xeda0 && first < 0xee00) ||
                       (first >= 0xf000 && first < 0xf090) || first >= 0xf490;
  return outside ? 0 : length;
}

} // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      const std::size_t length = sequence(text.substr(at));
      result += length == 0 ? "\xef\xbf\xbd" : text.substr(at, length); // else U+FFFD
      at += std::max<std::size_t>(length, 1) - 1;
      continue;
    }
    switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '"': result += "&quot;"; break;
    case '\'': result += "&#39;"; break;
    case '\t': result += c; break;
    default: result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return result;
}

} // namespace ptxasw::report
