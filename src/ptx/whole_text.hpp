// What is asked of a whole text by each of its kernels, answered once.
//
// Names of a rewrite's own may stand nowhere in the text. Looked for anew by each kernel, that is
// the number of kernels times the size of the text. From any thread.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace ptxasw::ptx {

struct Module;

class WholeText {
public:
  // Any question that has one answer for the whole text, by its name.
  bool once(std::string_view question, const std::function<bool()>& answer);
  // Answers that were looked for so far: for whoever counts.
  [[nodiscard]] unsigned searches();

private:
  std::mutex mutex_;
  std::map<std::string, bool, std::less<>> known_;
};

// Does this stand anywhere in the text, comments included?
bool stands_anywhere(const Module& module, std::string_view word);

} // namespace ptxasw::ptx
