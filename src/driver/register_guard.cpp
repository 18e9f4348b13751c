// See register_guard.hpp.
#include "driver/register_guard.hpp"

#include "cost/profile.hpp"
#include "ptx/parse.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace ptxasw::driver {
namespace {

// The number in front of `unit`, wherever it stands in the line.
std::optional<unsigned> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
    --begin;
  unsigned n = 0;
  if (std::from_chars(line.data() + begin, line.data() + end, n).ec != std::errc())
    return std::nullopt;
  return n;
}

std::string_view behind(std::string_view line, std::string_view marker) {
  const std::size_t at = line.find(marker);
  return at == std::string_view::npos ? "" : line.substr(at + marker.size());
}

bool needs_no_more_memory(const Usage& after, const Usage& before) {
  return after.stack <= before.stack && after.spill_stores <= before.spill_stores &&
         after.spill_loads <= before.spill_loads;
}

bool fits_anywhere(const Usage& usage) {
  return usage.registers <= cost::registers_for_any_block && needs_no_more_memory(usage, {});
}

} // namespace

UsageTable parse_statistics(std::string_view messages) {
  UsageTable table;
  std::string kernel;   // being compiled
  std::string function; // whose properties come next; a kernel or a function it calls
  for (std::size_t at = 0; at < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', at), messages.size());
    const std::string_view line = messages.substr(at, end - at);
    at = end + 1;
    if (const auto name = behind(line, "Compiling entry function '"); !name.empty()) {
      kernel = name.substr(0, name.find('\''));
      table[kernel];
    } else if (const auto properties = behind(line, "Function properties for ");
               !properties.empty()) {
      function = properties;
    } else if (const auto stack = number_before(line, " bytes stack frame")) {
      if (const auto entry = table.find(function); entry != table.end()) {
        entry->second.stack = *stack;
        entry->second.spill_stores = number_before(line, " bytes spill stores").value_or(0);
        entry->second.spill_loads = number_before(line, " bytes spill loads").value_or(0);
      }
    } else if (const auto registers = number_before(line, " registers");
               registers && line.find("Used ") != std::string_view::npos && !kernel.empty()) {
      table[kernel].registers = *registers;
    }
  }
  return table;
}

bool states_block_size(std::string_view ptx, std::string_view kernel) {
  const ptx::Module module = ptx::parse(std::string(ptx));
  const auto function = std::ranges::find_if(module.functions, [&](const ptx::Function& f) {
    return f.is_entry && !f.is_declaration && f.name == kernel;
  });
  return function != module.functions.end() && (function->maxntid[0] | function->reqntid[0]) != 0;
}

std::vector<TakenBack> kernels_to_take_back(std::span<const std::string> changed,
                                            const UsageTable& after, const Questions& questions) {
  std::optional<UsageTable> before;
  std::vector<TakenBack> back;
  for (const std::string& kernel : changed) {
    const auto now = after.find(kernel);
    if (now == after.end()) {
      if (after.empty()) back.push_back({kernel, {}, {}});
      continue;
    }
    if (fits_anywhere(now->second)) continue;
    if (!before) before = questions.before();
    const auto then = before->find(kernel);
    const Usage old = then == before->end() ? Usage{} : then->second;
    const bool launches =
        now->second.registers <= std::max(cost::registers_for_any_block, old.registers) ||
        questions.is_bounded(kernel);
    if (!launches || !needs_no_more_memory(now->second, old))
      back.push_back({kernel, old, now->second});
  }
  return back;
}

} // namespace ptxasw::driver
