#include "report/parts.hpp"

#include "report/table.hpp"
#include "words/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ptxasw::report {
namespace {

// "6 shuffles, 2 moves, mean |delta| 1.50"
std::string rewrites(unsigned shuffles, unsigned moves, double mean_delta) {
  std::vector<std::string> parts;
  if (shuffles != 0) parts.push_back(plural(shuffles, "shuffle"));
  if (moves != 0) parts.push_back(plural(moves, "move"));
  if (shuffles != 0) parts.push_back(fmt::format("mean |delta| {:.2f}", mean_delta));
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "jacobi.cu:12-16": of its accesses, those that are in the file of the first.
std::string source_lines(const KernelReport& kernel) {
  SourceLines lines;
  for (const AccessReport& access : kernel.accesses)
    lines.add(access);
  return lines.text();
}

// A message may quote the line it is about, below itself.
void put_message(std::string& out, const Message& message) {
  std::string_view text = message.text;
  while (!text.empty())
    out += "  " + printable(words::take(text, "\n")) + '\n';
}

} // namespace

std::string paint(const TextStyle& style, std::string_view code, std::string_view text) {
  if (!style.color || text.empty() || code.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string_view outcome_color(const Users& users, const AccessReport& access) {
  if (access.outcome != Outcome::kept) return green;
  return users.of(access).empty() ? yellow : dim;
}

std::string covered(const KernelReport& kernel) {
  std::string text = fmt::format("{} of {} covered", kernel.covered, plural(kernel.loads, "load"));
  const std::string done = rewrites(kernel.shuffles, kernel.moves, kernel.mean_delta);
  return done.empty() ? text : text + ": " + done;
}

void put_name(std::string& out, const KernelReport& kernel, const TextStyle& style) {
  out += paint(style, bold, "kernel " + printable(display_name(kernel.name)));
  std::vector<std::string> where;
  if (const std::string lines = source_lines(kernel); !lines.empty())
    where.push_back(printable(lines));
  if (kernel.ptx_line != 0) where.push_back(fmt::format("PTX line {}", kernel.ptx_line));
  if (!where.empty()) out += fmt::format(" ({})", fmt::join(where, ", "));
}

void put_unasked(std::string& out, const Report& report) {
  for (const std::string& question : report.unmemoized)
    out += fmt::format("  there was no ptxas to ask {}\n", question);
}

void put_promise(std::string& out, const Report& report, const TextStyle& style) {
  const std::string said = promise(report);
  if (said.empty()) return;
  for (const std::string& line : wrap(said, style.width > 4 ? style.width - 2 : 2))
    out += "  " + line + '\n';
}

void put_messages(std::string& out, const Report& report) {
  constexpr std::size_t most_messages = 10; // JSON has them all
  for (std::size_t n = 0; n < std::min(report.messages.size(), most_messages); ++n)
    put_message(out, report.messages[n]);
  if (report.messages.size() > most_messages)
    out += fmt::format("  and {} more messages\n", report.messages.size() - most_messages);
}

} // namespace ptxasw::report
