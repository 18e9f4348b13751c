// Over the lines that matter.
#include "profile/text.hpp"

#include "words/hash.hpp"
#include "words/words.hpp"

#include <algorithm>

namespace ptxasw::profile {

std::uint64_t hash_of_text(std::string_view kernel) {
  std::uint64_t sum = words::hash_of_nothing;
  while (!kernel.empty()) {
    std::string_view line = words::take(kernel, "\n");
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t\r")));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.starts_with("//") || line.starts_with(".loc")) continue;
    sum = words::hash("\n", words::hash(line, sum));
  }
  return sum == 0 ? 1 : sum;
}

} // namespace ptxasw::profile
