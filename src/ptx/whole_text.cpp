// Answers are kept of the last text that was asked about: kernels of one module come one after
// another. A text never changes, and as long as somebody has it, its address is its own.
#include "ptx/whole_text.hpp"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace ptxasw::ptx {
namespace {

struct Answers {
  std::weak_ptr<const std::string> text; // its place is not given away while this lives
  std::map<std::string, bool, std::less<>> known;
};
thread_local Answers answers;       // NOLINT(*-avoid-non-const-global-variables)
thread_local unsigned searches = 0; // NOLINT(*-avoid-non-const-global-variables)

bool is_of(const Answers& kept, const Module& module) {
  return !kept.text.owner_before(module.text) && !module.text.owner_before(kept.text);
}

} // namespace

bool once(const Module& module, std::string_view question, const std::function<bool()>& answer) {
  if (!is_of(answers, module)) answers = {module.text, {}};
  if (const auto found = answers.known.find(question); found != answers.known.end())
    return found->second;
  ++searches;
  const bool said = answer();
  answers.known.emplace(question, said);
  return said;
}

bool stands_anywhere(const Module& module, std::string_view word) {
  return once(module, fmt::format("text {}", word),
              [&] { return module.text->find(word) != std::string::npos; });
}

unsigned whole_text_searches() {
  return searches;
}

} // namespace ptxasw::ptx
