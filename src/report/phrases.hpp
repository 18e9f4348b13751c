// The wordings that text, JSON and HTML share.
#pragma once

#include "ptxasw/report.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxasw::report {

std::string operation(const AccessReport& access);    // "ld.global.nc"
std::string lane_stride(const AccessReport& access);  // bytes: "4", "param", "-" when not affine
std::string sectors(const AccessReport& access);      // "4", "4-5"
std::string source_place(const AccessReport& access); // "jacobi.cu:12", file name without folders

// "jacobi.cu:12-16": where accesses are in the source, those that are in the file of the first.
class SourceLines {
public:
  void add(const AccessReport& access);
  [[nodiscard]] std::string text() const; // empty: not known

private:
  std::string file_;
  std::uint32_t first_ = 0, last_ = 0;
};

// What is promised of the kernels that were rewritten, and what is not; empty if none was.
std::string promise(const Report& report);

std::string_view name(Outcome outcome);  // "shuffled"
std::string_view name(FactKind kind);    // "checked"
std::string_view meaning(FactKind kind); // "checked at run time"

// Which loads of a kernel take their value from which.
class Users {
public:
  explicit Users(const KernelReport& kernel);
  // The PTX lines of the loads that take their value from `access`.
  [[nodiscard]] const std::vector<std::uint32_t>& of(const AccessReport& access) const;

private:
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> lines_;
};

// What became of an access, in one sentence. Empty when there is nothing to say (a store).
std::string outcome(const Users& users, const AccessReport& access);

// The facts that can fail, which the reader should know of: "checked: %tid.x < 31".
std::vector<std::string> conditions(const AccessReport& access);

// "jacobi(float*, int)" for _Z6jacobiPfi; other names as they are. display_name leaves the
// parameters off.
std::string demangled(const std::string& name);
std::string display_name(const std::string& name);

std::string milliseconds(double ms);                          // "0.84 ms", "1.20 s"
std::string plural(std::size_t count, std::string_view noun); // "1 load", "2 loads"

// Tabs become spaces and other control characters '?', so that a name cannot drive a terminal.
std::string printable(std::string_view text);

std::string base_name(std::string_view path);

} // namespace ptxasw::report
