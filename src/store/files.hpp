// Reading and writing whole files by descriptors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::store {

// Of a regular file, from its beginning; nothing where there are more than `limit` bytes.
[[nodiscard]] std::optional<std::string> read_whole(int file, std::size_t limit);
[[nodiscard]] bool write_whole(int file, std::string_view bytes);
// For the owner alone, with all above it that are not there; whether they are shows when a file is
// opened.
void make_folders(const std::string& folder);

} // namespace ptxasw::store
