// What is asked of a whole text by each of its kernels, answered once.
//
// Names of a rewrite's own may stand nowhere in the text. Looked for anew by each kernel, that is
// the number of kernels times the size of the text.
#pragma once

#include "ptx/module.hpp"

#include <functional>
#include <string_view>

namespace ptxasw::ptx {

// Does this stand anywhere in the text, comments included?
bool stands_anywhere(const Module& module, std::string_view word);

// Any other question that has one answer for the whole text, by its name.
bool once(const Module& module, std::string_view question, const std::function<bool()>& answer);

// Answers that this thread has looked for so far: for whoever counts.
unsigned whole_text_searches();

} // namespace ptxasw::ptx
