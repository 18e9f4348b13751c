// Why an image, or one of its kernels, has no versions. Needs nothing but the C++ library.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::image {

enum class Reason : std::uint8_t {
  none,
#define PTXASW_IMAGE_REASON(name, code, meaning, advice) name,
#include "image/reasons.def"
#undef PTXASW_IMAGE_REASON
};

struct ReasonRow {
  Reason reason;
  std::string_view code, meaning, advice; // advice: how to build; may be empty
};
std::span<const ReasonRow> reason_rows();               // all but `none`
std::string_view code(Reason reason);                   // "no-ptx"; "" for none
std::optional<Reason> reason_of(std::string_view code); // "": none
// The meaning, and behind it in brackets the advice, if any, for this chip: "sm_90".
std::string words(Reason reason, std::string_view chip);

} // namespace ptxasw::image
