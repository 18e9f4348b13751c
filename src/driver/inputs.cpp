// Reads the inputs, and stands others in their places.
#include "driver/inputs.hpp"

#include "driver/messages.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace ptxasw::driver {

std::optional<std::string> Inputs::read(const std::vector<std::string>& paths,
                                        std::size_t size_limit) {
  for (const std::string& path : paths) {
    auto text =
        path == "-" ? spool_standard_input(size_limit) : read_regular_file(path, size_limit);
    if (!text) return path + ": " + text.error();
    all_.push_back({path, *text, {}});
  }
  return std::nullopt;
}

// Standard input can be read once; from now on it is a file that can be read again.
tl::expected<std::string, std::string> Inputs::spool_standard_input(std::size_t size_limit) {
  auto text = read_all(STDIN_FILENO);
  if (!text) return text;
  const auto spool = MemoryFile::create(*text);
  if (!spool || ::dup2(spool->descriptor(), STDIN_FILENO) < 0)
    return tl::unexpected<std::string>("standard input could not be kept");
  spooled_ = true;
  if (text->size() > size_limit) return tl::unexpected<std::string>("too large");
  return text;
}

void Inputs::rewind() const {
  if (spooled_) ::lseek(STDIN_FILENO, 0, SEEK_SET);
}

bool Inputs::is_any_changed() const {
  return std::ranges::any_of(all_, [](const Input& input) { return input.optimized.changed; });
}

bool Inputs::state_block_sizes() const {
  return std::ranges::any_of(all_, [](const Input& input) {
    return input.text.find(".maxntid") != std::string::npos ||
           input.text.find(".reqntid") != std::string::npos;
  });
}

Texts Inputs::rewritten() const {
  Texts texts;
  for (const Input& input : all_)
    texts.push_back(input.optimized.changed ? std::optional(input.optimized.text) : std::nullopt);
  return texts;
}

std::vector<Reverted> Inputs::reverted() const {
  std::vector<Reverted> reverted;
  for (const Input& input : all_)
    reverted.insert(reverted.end(), input.optimized.report.reverted.begin(),
                    input.optimized.report.reverted.end());
  return reverted;
}

Texts Inputs::originals(std::vector<MemoryFile>& feeds) const {
  Texts paths;
  for (const Input& input : all_) {
    paths.emplace_back();
    if (input.path == "-") continue;
    if (read_regular_file(input.path, largest_output).value_or("") != input.text)
      paths.back() = feed(feeds, input.text);
  }
  return paths;
}

std::string Inputs::in_their_terms(std::string messages,
                                   const std::vector<MemoryFile>& feeds) const {
  std::size_t next = 0;
  for (const Input& input : all_) {
    if (!input.optimized.changed || next == feeds.size()) continue;
    messages = in_terms_of_original(
        std::move(messages), {feeds[next++].path(), input.path, input.text, input.optimized.text});
  }
  return messages;
}

std::optional<std::string> feed(std::vector<MemoryFile>& files, std::string_view text) {
  auto file = MemoryFile::create(text, true);
  if (!file) return std::nullopt;
  files.push_back(std::move(*file));
  return files.back().path();
}

} // namespace ptxasw::driver
