#include "image/reason.hpp"

#include <algorithm>
#include <array>

namespace ptxasw::image {
namespace {

constexpr std::array rows{
#define PTXASW_IMAGE_REASON(name, code, meaning, advice)                                           \
  ReasonRow{Reason::name, code, meaning, advice},
#include "image/reasons.def"
#undef PTXASW_IMAGE_REASON
};

void replace(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

} // namespace

std::span<const ReasonRow> reason_rows() {
  return rows;
}

std::string_view code(Reason reason) {
  const auto found = std::ranges::find(rows, reason, &ReasonRow::reason);
  return found == rows.end() ? std::string_view{} : found->code;
}

std::optional<Reason> reason_of(std::string_view code) {
  if (code.empty()) return Reason::none;
  const auto found = std::ranges::find(rows, code, &ReasonRow::code);
  if (found == rows.end()) return std::nullopt;
  return found->reason;
}

std::string words(Reason reason, std::string_view chip) {
  const auto found = std::ranges::find(rows, reason, &ReasonRow::reason);
  if (found == rows.end()) return {};
  std::string text(found->meaning);
  if (found->advice.empty()) return text;
  text.append(" (").append(found->advice).append(")");
  replace(text, "CHIP", chip);
  replace(text, "NN", chip.substr(std::min(chip.size(), chip.find('_') + 1)));
  return text;
}

} // namespace ptxasw::image
