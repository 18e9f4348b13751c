// Answers are kept beside the text, which never changes.
#include "ptx/whole_text.hpp"

#include "ptx/module.hpp"

#include <fmt/format.h>

namespace ptxasw::ptx {

bool WholeText::once(std::string_view question, const std::function<bool()>& answer) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(question);
  return found != known_.end() ? found->second : known_.emplace(question, answer()).first->second;
}

unsigned WholeText::searches() {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(known_.size());
}

bool stands_anywhere(const Module& module, std::string_view word) {
  return module.whole->once(fmt::format("text {}", word),
                            [&] { return module.text->find(word) != std::string::npos; });
}

} // namespace ptxasw::ptx
