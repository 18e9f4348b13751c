// The report as one self-contained HTML page: no script, no font, no request to anywhere.
#include "report/diff.hpp"
#include "report/drawing.hpp"
#include "report/phrases.hpp"
#include "report/reason.hpp"
#include "report/report.hpp"
#include "report/steps_drawing.hpp"
#include "report/style.hpp"

#include "target/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

namespace ptxasw::report {
namespace {

constexpr std::size_t context = 3;        // unchanged lines shown around a change
constexpr std::size_t shortest_fold = 6;  // fewer lines than this are not worth a fold
constexpr std::size_t longest_fold = 100; // lines of a fold that are in the page at all
constexpr std::size_t most_rows = 200;    // accesses of a kernel that were kept, in the page

// The accesses of a kernel that the page shows: what was rewritten, and of the rest the first.
std::vector<const AccessReport*> shown(const KernelReport& kernel) {
  std::vector<const AccessReport*> result;
  std::size_t kept = 0;
  for (const auto& access : kernel.accesses)
    if (access.outcome != Outcome::kept || kept++ < most_rows) result.push_back(&access);
  return result;
}

// The class that colours an access in the table, the drawing and the margin of the PTX.
std::string_view style_of(const Users& users, const AccessReport& access) {
  switch (access.outcome) {
  case Outcome::shuffled: return "covered";
  case Outcome::moved:
  case Outcome::carried: return "moved";
  case Outcome::kept: break;
  }
  return users.of(access).empty() ? "kept" : "source";
}

std::string tile(std::string_view value, std::string_view what) {
  return fmt::format("<li><b>{}</b><span>{}</span></li>", value, what);
}

std::string tiles(const Report& report) {
  unsigned loads = 0, covered = 0, shuffles = 0, moves = 0;
  for (const auto& kernel : report.kernels) {
    loads += kernel.loads;
    covered += kernel.covered;
    shuffles += kernel.shuffles;
    moves += kernel.moves;
  }
  return "<ul class=\"tiles\">" + tile(std::to_string(report.kernels.size()), "kernels") +
         tile(std::to_string(loads), "loads") + tile(std::to_string(covered), "covered") +
         tile(std::to_string(shuffles), "shuffles") + tile(std::to_string(moves), "moves") +
         tile(milliseconds(report.parse_ms + report.analyze_ms + report.print_ms), "total time") +
         "</ul>\n";
}

std::string messages(const Report& report) {
  std::string text;
  for (const auto& message : report.messages)
    for (const auto line : split_lines(message.text))
      text += escaped(line) + '\n';
  return text.empty() ? text : "<pre class=\"callout messages\">" + text + "</pre>\n";
}

std::string outcome_cell(const Users& users, const AccessReport& access) {
  const std::string text = outcome(users, access);
  if (text.empty()) return "";
  std::string cell =
      fmt::format("<span class=\"dot {}\"></span>{}", style_of(users, access), escaped(text));
  for (const auto& condition : conditions(access))
    cell += fmt::format("<small>{}</small>", escaped(condition));
  if (!access.proof.empty()) cell += fmt::format("<small>proof: {}</small>", escaped(access.proof));
  return cell;
}

std::string access_row(const Users& users, const AccessReport& access) {
  return fmt::format(
      "<tr><td class=\"n\"><a href=\"#L{0}\">{0}</a></td><td class=\"w\">{1}</td>"
      "<td class=\"w\"><code>{2}</code></td><td class=\"n\">{3}</td><td class=\"addr\">{4}</td>"
      "<td class=\"n\">{5}</td><td class=\"n\">{6}</td><td title=\"{7}\">{8}</td>"
      "<td class=\"out\">{9}</td></tr>\n",
      access.ptx_line, escaped(source_place(access)), escaped(operation(access)), access.bytes,
      escaped(access.address), lane_stride(access), sectors(access),
      target::description(access.access), target::name(access.access), outcome_cell(users, access));
}

std::string access_table(const KernelReport& kernel) {
  if (kernel.accesses.empty()) return "";
  std::string text = "<div class=\"wide\"><table><thead><tr><th "
                     "class=\"n\">line</th><th>source</th><th>access</th>"
                     "<th class=\"n\">bytes</th><th>address</th><th class=\"n\">stride</th>"
                     "<th class=\"n\">sectors</th><th>class</th><th>outcome</th></tr></thead>\n";
  const Users users(kernel);
  const auto rows = shown(kernel);
  for (const AccessReport* access : rows)
    text += access_row(users, *access);
  text += "</table></div>\n";
  if (const std::size_t more = kernel.accesses.size() - rows.size(); more != 0)
    text +=
        fmt::format("<p class=\"soft\">{} more accesses that were kept are not in this page; the "
                    "JSON report has them.</p>\n",
                    more);
  return text;
}

std::string key(std::string_view style, std::string_view meaning) {
  return fmt::format("<span><span class=\"key {}\"></span>{}</span>", style, meaning);
}

std::string figure(const KernelReport& kernel) {
  KernelReport part; // its links lead to lines that are in the page
  part.name = kernel.name;
  for (const AccessReport* access : shown(kernel))
    part.accesses.push_back(*access);
  const std::string drawing = lanes_svg(part);
  if (drawing.empty()) return "";
  return "<figure><div class=\"scroll\">" + drawing + "</div>\n<figcaption><div class=\"keys\">" +
         key("source", "load that feeds others") + key("covered", "value from another lane") +
         key("corner", "corner lanes, which load") + key("moved", "value from the same lane") +
         key("kept", "load on its own") + key("sector", "end of a 32-byte sector") +
         "</div>One cell per lane, one column per address: in a column, the number in a lower "
         "strip is the lane that wants what the lane above it holds.</figcaption></figure>\n";
}

std::string steps_figure(const KernelReport& kernel) {
  const std::string drawing = steps_svg(kernel);
  if (drawing.empty()) return "";
  return "<figure><div class=\"scroll\">" + drawing + "</div>\n<figcaption><div class=\"keys\">" +
         key("covered", "as single launches would have it") +
         key("kept", "computed from beyond the tile") + key("source", "what one place rests on") +
         key("sector", "the centre, which is stored") +
         "</div>The line of neighbouring elements that a block has, step by step: each step is "
         "right as far as what it reads was.</figcaption></figure>\n";
}

// What gains most first, then what was rewritten otherwise, then the others, by their reason.
std::vector<const KernelReport*> by_gain(const Report& report) {
  std::vector<const KernelReport*> order;
  for (const KernelReport& kernel : report.kernels)
    order.push_back(&kernel);
  std::ranges::stable_sort(order, {}, [](const KernelReport* kernel) {
    const CoarsenCandidate* way = best_way(*kernel);
    const double gain = kernel->changed && way != nullptr && way->chosen ? way->gain : 0;
    return std::tuple(-gain, !kernel->changed, verdict(*kernel));
  });
  return order;
}

std::string kernel_section(const KernelReport& kernel) {
  std::string text = fmt::format("<section><h2>{}</h2>\n", escaped(display_name(kernel.name)));
  text += fmt::format("<div class=\"soft\"><code>{}</code>", escaped(demangled(kernel.name)));
  if (kernel.ptx_line != 0)
    text += fmt::format(", <a href=\"#L{0}\">line {0}</a>", kernel.ptx_line);
  text += "</div>\n";
  if (!kernel.left_alone.empty())
    text += fmt::format("<p class=\"callout\">{}: {}</p>\n",
                        kernel.analyzed ? "Left alone" : "Not analyzed",
                        escaped(kernel.left_alone.text));
  if (kernel.analyzed)
    text += fmt::format("<p>{} of {} covered; {} with mean |delta| {:.2f}, {}; {}, {} of which {} "
                        "by Z3.</p>\n",
                        kernel.covered, plural(kernel.loads, "load"),
                        plural(kernel.shuffles, "shuffle"), kernel.mean_delta,
                        plural(kernel.moves, "move"), milliseconds(kernel.milliseconds),
                        plural(kernel.solver_queries, "query"), kernel.z3_queries);
  text += fmt::format("<p><b>{}</b></p>\n", escaped(verdict(kernel)));
  for (const Decision* decision :
       {&kernel.coarsening, &kernel.remapping, &kernel.rotation, &kernel.rounds})
    if (decision->status != Status::not_asked && !decision->text.empty())
      text += fmt::format("<p>{}</p>\n", escaped(decision->text));
  if (const std::string& said = kernel.steps.text; !said.empty())
    text += fmt::format("<p>{}{}.</p>\n",
                        static_cast<char>(std::toupper(static_cast<unsigned char>(said[0]))),
                        escaped(std::string_view(said).substr(1)));
  return text + steps_figure(kernel) + figure(kernel) + access_table(kernel) + "</section>\n";
}

// The side-by-side view.
class SideBySide {
public:
  SideBySide(const Report& report, std::string_view before, std::string_view after)
      : before_(split_lines(before)), after_(split_lines(after)) {
    for (const auto& kernel : report.kernels) {
      if (kernel.ptx_line != 0) marks_.try_emplace(kernel.ptx_line, "");
      const Users users(kernel);
      for (const AccessReport* access : shown(kernel))
        marks_[access->ptx_line] = access->is_store ? "" : style_of(users, *access);
    }
  }

  std::string render() {
    const auto hunks = diff(before_, after_);
    const bool changed =
        std::any_of(hunks.begin(), hunks.end(), [](const Hunk& hunk) { return !hunk.same; });
    out_ += changed ? "<h2>PTX before and after</h2>\n"
                    : "<h2>PTX</h2>\n<p>The text was passed through unchanged.</p>\n";
    out_ += "<div class=\"diff\"><div class=\"r heads\"><i></i><span>before</span><i></i>"
            "<span>after</span></div>\n";
    for (const auto& hunk : hunks)
      hunk.same ? put_same(hunk, &hunk == &hunks.front(), &hunk == &hunks.back())
                : put_changed(hunk);
    return std::move(out_) + "</div>\n";
  }

private:
  // Unchanged lines: those near a change or with an access are shown, the others fold away.
  void put_same(const Hunk& hunk, bool first, bool last) {
    const std::size_t count = hunk.before_end - hunk.before_begin;
    std::vector<bool> shown(count, false);
    for (std::size_t i = 0; i < count; ++i) {
      if ((!first && i < context) || (!last && i + context >= count)) shown[i] = true;
      if (marks_.contains(static_cast<std::uint32_t>(hunk.before_begin + i + 1))) shown[i] = true;
    }
    for (std::size_t i = 0; i < count;) {
      std::size_t end = i;
      while (end < count && shown[end] == shown[i])
        ++end;
      const bool fold = !shown[i] && end - i >= shortest_fold;
      if (fold) out_ += fmt::format("<details><summary>{} unchanged lines</summary>\n", end - i);
      const std::size_t stop = fold ? std::min(end, i + longest_fold) : end;
      for (std::size_t k = i; k < stop; ++k)
        put_row(hunk.before_begin + k + 1, before_[hunk.before_begin + k], "",
                hunk.after_begin + k + 1, after_[hunk.after_begin + k], "");
      if (stop < end)
        out_ += fmt::format("<div class=\"r\"><i></i><span class=\"soft\">{} more lines, not in "
                            "this page</span><i></i><span></span></div>\n",
                            end - stop);
      if (fold) out_ += "</details>\n";
      i = end;
    }
  }

  void put_changed(const Hunk& hunk) {
    const std::size_t rows =
        std::max(hunk.before_end - hunk.before_begin, hunk.after_end - hunk.after_begin);
    for (std::size_t k = 0; k < rows; ++k) {
      const std::size_t i = hunk.before_begin + k, j = hunk.after_begin + k;
      const bool old = i < hunk.before_end, fresh = j < hunk.after_end;
      put_row(old ? i + 1 : 0, old ? before_[i] : "", old ? "del" : "none", fresh ? j + 1 : 0,
              fresh ? after_[j] : "", fresh ? "ins" : "none");
    }
  }

  // Line 0 leaves a side empty.
  void put_row(std::size_t old_line, std::string_view old_text, std::string_view old_style,
               std::size_t new_line, std::string_view new_text, std::string_view new_style) {
    const auto number = [](std::size_t line) { return line == 0 ? "" : std::to_string(line); };
    std::string margin;
    const auto mark = marks_.find(static_cast<std::uint32_t>(old_line));
    const bool target = old_line != 0 && mark != marks_.end();
    if (target && !mark->second.empty()) margin = fmt::format(" m-{}", mark->second);
    out_ += fmt::format("<div class=\"r\"{}><i class=\"{}{}\">{}</i><span class=\"code {}\">{}"
                        "</span><i class=\"{}\">{}</i><span class=\"code {}\">{}</span></div>\n",
                        target ? fmt::format(" id=\"L{}\"", old_line) : "", old_style, margin,
                        number(old_line), old_style, escaped(old_text), new_style, number(new_line),
                        new_style, escaped(new_text));
  }

  std::vector<std::string_view> before_, after_;
  std::map<std::uint32_t, std::string_view> marks_; // lines that the page links to
  std::string out_;
};

} // namespace

std::string to_html(const Report& report, std::string_view original_text,
                    std::string_view rewritten_text) {
  const std::string title = escaped(report.file.empty() ? "<input>" : base_name(report.file));
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += fmt::format("<title>{} - ptxasw</title>\n<style>{}</style></head><body>\n", title,
                      style_sheet);
  page += fmt::format("<header><div class=\"soft\">ptxasw report</div><h1>{}</h1>\n", title);
  page += tiles(report) + "</header>\n" + messages(report) + "<main>\n";
  if (const std::string said = promise(report); !said.empty())
    page += fmt::format("<p class=\"soft\">{}</p>\n", escaped(said));
  for (const KernelReport* kernel : by_gain(report))
    page += kernel_section(*kernel);
  page += SideBySide(report, original_text, rewritten_text).render();
  return page + "</main></body></html>\n";
}

} // namespace ptxasw::report
