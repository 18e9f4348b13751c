// The wordings that text, JSON and HTML share.
#include "report/phrases.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace ptxasw::report {
namespace {

std::string lines_of(const std::vector<std::uint32_t>& lines) {
  return fmt::format("line{} {}", lines.size() == 1 ? "" : "s", fmt::join(lines, ", "));
}

// "foo<int>" of "void foo<int>(float*)".
std::string_view without_parameters(std::string_view text) {
  if (!text.ends_with(')')) return text;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth == 0) return text.substr(0, i);
  }
  return text;
}

// Substitutions (S0_, T_) make the text of a mangled name grow exponentially; a hostile name must
// not take the process down.
bool harmless(std::string_view name) {
  constexpr std::size_t longest = 512, most_references = 8;
  std::size_t references = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char next = name[i + 1];
    const bool reference = next == '_' || (next >= '0' && next <= '9');
    if ((name[i] == 'S' || name[i] == 'T') && reference) ++references;
  }
  return name.size() <= longest && references <= most_references;
}

} // namespace

std::string promise(const Report& report) {
  if (std::ranges::none_of(report.kernels, &KernelReport::changed)) return "";
  return "what is rewritten computes the same bits in launches without data races, but for the "
         "payload of a NaN: of two that meet in double precision either is handed on, and one that "
         "only passes an operation of no effect may keep its own";
}

std::string operation(const AccessReport& access) {
  std::string text = access.is_store ? "st" : "ld";
  if (!access.space.empty()) text += "." + access.space;
  return text + access.qualifiers;
}

std::string lane_stride(const AccessReport& access) {
  if (access.lane_stride) return std::to_string(*access.lane_stride);
  return access.access == AccessClass::random ? "-" : "param";
}

std::string sectors(const AccessReport& access) {
  const auto [least, most] = access.sectors;
  return least == most ? std::to_string(least) : fmt::format("{}-{}", least, most);
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

std::string source_place(const AccessReport& access) {
  if (access.source_line == 0) return "";
  if (access.source_file.empty()) return std::to_string(access.source_line);
  return fmt::format("{}:{}", base_name(access.source_file), access.source_line);
}

void SourceLines::add(const AccessReport& access) {
  if (access.source_line == 0 || (first_ != 0 && access.source_file != file_)) return;
  if (first_ == 0) file_ = access.source_file;
  first_ = first_ == 0 ? access.source_line : std::min(first_, access.source_line);
  last_ = std::max(last_, access.source_line);
}

std::string SourceLines::text() const {
  if (first_ == 0) return "";
  std::string lines = file_.empty() ? "" : base_name(file_) + ":";
  lines += std::to_string(first_);
  return first_ == last_ ? lines : lines + fmt::format("-{}", last_);
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
  case Outcome::kept: return "kept";
  case Outcome::shuffled: return "shuffled";
  case Outcome::moved: return "moved";
  case Outcome::carried: return "carried";
  }
  return "kept";
}

std::string_view name(FactKind kind) {
  switch (kind) {
  case FactKind::architectural: return "architectural";
  case FactKind::path: return "path";
  case FactKind::checked: return "checked";
  case FactKind::promised: return "promised";
  }
  return "architectural";
}

std::string_view meaning(FactKind kind) {
  switch (kind) {
  case FactKind::architectural: return "always true of the architecture";
  case FactKind::path: return "true on this path";
  case FactKind::checked: return "checked at run time, else the original load runs";
  case FactKind::promised: return "promised on the command line";
  }
  return "";
}

Users::Users(const KernelReport& kernel) {
  for (const auto& access : kernel.accesses)
    if (access.outcome != Outcome::kept) lines_[access.source_ptx_line].push_back(access.ptx_line);
}

const std::vector<std::uint32_t>& Users::of(const AccessReport& access) const {
  static const std::vector<std::uint32_t> none;
  const auto found = lines_.find(access.ptx_line);
  return access.is_store || found == lines_.end() ? none : found->second;
}

std::string outcome(const Users& users, const AccessReport& access) {
  switch (access.outcome) {
  case Outcome::shuffled:
    return fmt::format("shuffled from lane{:+}, line {}", access.delta, access.source_ptx_line);
  case Outcome::moved: return fmt::format("moved from line {}, same lane", access.source_ptx_line);
  case Outcome::carried:
    return fmt::format("carried from line {}, iteration before", access.source_ptx_line);
  case Outcome::kept: break;
  }
  if (const auto& lines = users.of(access); !lines.empty())
    return "kept: supplies " + lines_of(lines);
  if (access.kept.empty()) return "";
  return "kept: " + access.kept.text;
}

std::vector<std::string> conditions(const AccessReport& access) {
  std::vector<std::string> list;
  for (const auto& fact : access.facts)
    if (fact.kind == FactKind::checked || fact.kind == FactKind::promised)
      list.push_back(fmt::format("{}: {}", name(fact.kind), fact.text));
  return list;
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z") || !harmless(name)) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

std::string display_name(const std::string& name) {
  const std::string full = demangled(name);
  std::string_view text = without_parameters(full);
  if (text.starts_with("void ")) text.remove_prefix(5);
  return text.empty() ? name : std::string(text);
}

std::string milliseconds(double ms) {
  if (!std::isfinite(ms)) return "-";
  return ms >= 1000 ? fmt::format("{:.2f} s", ms / 1000) : fmt::format("{:.2f} ms", ms);
}

std::string plural(std::size_t count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  if (noun.ends_with('y')) return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", count, noun);
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c == '\t')
      c = ' ';
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return result;
}

} // namespace ptxasw::report
