// Messages are read line by line; what is not expected there is passed over.
#include "oracle/assembler.hpp"

#include <algorithm>
#include <charconv>

namespace ptxasw::oracle {
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

} // namespace

UsageTable read_usage(std::string_view messages) {
  UsageTable table;
  std::map<std::string, unsigned, std::less<>> registers, shared;
  std::map<std::string, Usage, std::less<>> memory; // stack and spills of kernels and functions
  std::string kernel;                               // being compiled
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
      memory[function] = {.stack = *stack,
                          .spill_stores = number_before(line, " bytes spill stores").value_or(0),
                          .spill_loads = number_before(line, " bytes spill loads").value_or(0)};
    } else if (const auto used = number_before(line, " registers");
               used && line.find("Used ") != std::string_view::npos && !kernel.empty()) {
      registers[kernel] = *used;
      shared[kernel] = number_before(line, " bytes smem").value_or(0);
    }
  }
  for (auto& [name, usage] : table) {
    const auto used = registers.find(name);
    const auto rest = memory.find(name);
    if (used == registers.end() || rest == memory.end()) continue;
    usage = rest->second;
    usage->registers = used->second;
    usage->shared = shared[name];
  }
  return table;
}

std::optional<Usage> find(const UsageTable& table, std::string_view kernel) {
  const auto found = table.find(kernel);
  return found == table.end() ? std::nullopt : found->second;
}

std::optional<Usage> usage_in(const std::string& text, const std::string& kernel,
                              Assembler& assembler) {
  const auto assembled = assembler.assemble({.text = text, .entries = {kernel}});
  return assembled ? find(read_usage(assembled->messages), kernel) : std::nullopt;
}

} // namespace ptxasw::oracle
