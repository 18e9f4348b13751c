// Numbers that many processes add to: a file of lines "NAME VALUE" under a lock. What cannot be
// read, written or locked soon is not counted, which is all the harm there is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ptxasw::store {

using Counts = std::map<std::string, std::int64_t, std::less<>>;

class Counters {
public:
  explicit Counters(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] Counts read() const;
  // All of them as they are afterwards. The file is made, its folder is not.
  std::optional<Counts> add(std::initializer_list<std::pair<std::string, std::int64_t>> what) const;
  void set(const std::string& name, std::int64_t value) const;

private:
  template <class Change> std::optional<Counts> change(const Change& by) const;
  std::string file_;
};

} // namespace ptxasw::store
