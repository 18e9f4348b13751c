// What the two forms of the text report share: a verdict on each kernel, and all details.
#pragma once

#include "report/phrases.hpp"
#include "report/report.hpp"

#include <string>
#include <string_view>

namespace ptxasw::report {

inline constexpr std::string_view bold = "1", dim = "2", green = "32", yellow = "33";

// In a colour, if colours are wanted.
std::string paint(const TextStyle& style, std::string_view code, std::string_view text);
std::string_view outcome_color(const Users& users, const AccessReport& access);

// "2 of 5 loads covered: 1 shuffle, 1 move, mean |delta| 1.00"
std::string covered(const KernelReport& kernel);

void put_name(std::string& out, const KernelReport& kernel, const TextStyle& style);
void put_unasked(std::string& out, const Report& report);
void put_promise(std::string& out, const Report& report, const TextStyle& style);
void put_messages(std::string& out, const Report& report); // the first of them

// A verdict on each kernel, the one that gains most first, and its accesses by families.
std::string brief_text(const Report& report, const TextStyle& style);

} // namespace ptxasw::report
