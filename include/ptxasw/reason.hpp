// Why something was left as it was, and what came of a rewrite: a reason for programs, words for
// people. The words may change with any version; a reason's code does not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw {

enum class Reason : std::uint8_t {
  none,
#define PTXASW_REASON(name, code, meaning) name,
#include "ptxasw/reasons.def"
#undef PTXASW_REASON
  other, // one without a code of its own
};

// "barrier"; "" for none.
std::string_view code(Reason reason);

// All that have a code, in the order of SCHEMA.md.
struct ReasonCode {
  Reason reason;
  std::string_view code, meaning;
};
std::span<const ReasonCode> reason_codes();

// Empty: there is nothing against it.
struct Why {
  Reason reason = Reason::none;
  std::string text; // for people
  [[nodiscard]] bool empty() const { return reason == Reason::none; }
  operator const std::string&() const { return text; } // NOLINT(google-explicit-constructor)
  friend bool operator==(const Why&, const Why&) = default;
};

enum class Status : std::uint8_t {
  not_asked, // for this kernel
  done,
  refused, // for the reason given
};

// What came of one rewrite of a kernel.
struct Decision {
  Status status = Status::not_asked;
  Reason reason = Reason::none; // of a refusal
  std::string text;             // for people: what was done, or why it was not
};

} // namespace ptxasw
