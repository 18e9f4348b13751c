// The report as one page: the template of src/report/page with the JSON of the report in it, drawn
// by the page's own script. No font, no request to anywhere.
#include "report/page.hpp"

#include "report/diff.hpp"
#include "report/phrases.hpp"
#include "report/report.hpp"

#include "generated/report/page_parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ptxasw::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 200;     // accesses of a kernel that were kept, in the page
constexpr std::size_t beside_change = 400; // unchanged lines beside a change that are in the page
constexpr std::size_t most_changed = 4000; // lines of one change that are

// What a page can show: what was rewritten, and of what was kept the first.
Report shown(Report report) {
  for (KernelReport& kernel : report.kernels) {
    std::size_t kept = 0;
    std::erase_if(kernel.accesses, [&](const AccessReport& access) {
      return access.outcome == Outcome::kept && kept++ >= most_rows;
    });
  }
  return report;
}

using Lines = std::vector<std::string_view>;

Json part_of(const Lines& lines, std::size_t begin, std::size_t end) {
  Json part = Json::array();
  for (std::size_t n = begin; n < end; ++n)
    part.push_back(lines[n]);
  return part;
}

// Both texts in order. Without `after` the lines are those of `before`; `left_out` lines follow
// that are the same in both and not in the page.
Json hunks_of(std::string_view original_text, std::string_view rewritten_text) {
  const Lines before = split_lines(original_text), after = split_lines(rewritten_text);
  Json hunks = Json::array();
  const auto put_same = [&](const Hunk& hunk, std::size_t begin, std::size_t end,
                            std::size_t left_out) {
    hunks.push_back({{"before_line", begin + 1},
                     {"after_line", hunk.after_begin + (begin - hunk.before_begin) + 1},
                     {"before", part_of(before, begin, end)},
                     {"left_out", left_out}});
  };
  for (const Hunk& hunk : diff(before, after)) {
    const std::size_t count = hunk.before_end - hunk.before_begin;
    if (!hunk.same) {
      const std::size_t old_end = std::min(hunk.before_end, hunk.before_begin + most_changed);
      const std::size_t new_end = std::min(hunk.after_end, hunk.after_begin + most_changed);
      hunks.push_back({{"before_line", hunk.before_begin + 1},
                       {"after_line", hunk.after_begin + 1},
                       {"before", part_of(before, hunk.before_begin, old_end)},
                       {"after", part_of(after, hunk.after_begin, new_end)},
                       {"left_out", (hunk.before_end - old_end) + (hunk.after_end - new_end)}});
    } else if (count <= 2 * beside_change) {
      put_same(hunk, hunk.before_begin, hunk.before_end, 0);
    } else {
      put_same(hunk, hunk.before_begin, hunk.before_begin + beside_change,
               count - 2 * beside_change);
      put_same(hunk, hunk.before_end - beside_change, hunk.before_end, 0);
    }
  }
  return hunks;
}

void replace(std::string& text, std::string_view mark, std::string_view by) {
  const std::size_t at = text.find(mark);
  if (at != text.npos) text.replace(at, mark.size(), by);
}

} // namespace

std::string page_of(std::string_view json) {
  std::string data;
  for (const char c : json) // in JSON this stands in strings alone, and must not end the script
    c == '<' ? data += "\\u003c" : data += c;
  std::string page(page_html);
  replace(page, "@CSS@", page_css);
  replace(page, "@SCRIPT@", page_js);
  replace(page, "@DATA@", data);
  return page;
}

std::optional<std::string> page_of_launches(std::string_view json) {
  Json run = Json::parse(json, nullptr, false);
  if (!run.is_object() || !run.contains("launches") || !run["launches"].is_array())
    return std::nullopt;
  for (Json& row : run["launches"])
    if (row.is_object() && row.contains("kernel") && row["kernel"].is_string())
      row["demangled"] = demangled(row["kernel"].get<std::string>());
  return page_of(run.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string to_html(const Report& report, std::string_view original_text,
                    std::string_view rewritten_text) {
  constexpr auto replaced = Json::error_handler_t::replace;
  return page_of("{\"report\":" + to_json(shown(report), -1) + ",\"text\":" +
                 hunks_of(original_text, rewritten_text).dump(-1, ' ', false, replaced) + "}");
}

} // namespace ptxasw::report
