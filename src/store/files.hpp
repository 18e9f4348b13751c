// Reading and writing whole files by descriptors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ptxasw::store {

// Of a regular file, from its beginning; nothing where there are more than `limit` bytes.
[[nodiscard]] std::optional<std::string> read_whole(int file, std::size_t limit);
[[nodiscard]] bool write_whole(int file, std::string_view bytes);

} // namespace ptxasw::store
