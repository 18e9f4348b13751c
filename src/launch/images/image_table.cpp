// The table of images as text and JSON.
#include "launch/images/image_table.hpp"

#include "launch/text.hpp"

#include <algorithm>

namespace ptxasw::launch {
namespace {

// What was replaced before what may be yet, and that before all else; then by how many.
std::vector<ImageRow> sorted(std::vector<ImageRow> rows) {
  const auto rank = [](const ImageRow& row) {
    return row.code == "replaced" ? 0 : row.has_text ? 1 : 2;
  };
  std::ranges::stable_sort(rows, [&](const ImageRow& a, const ImageRow& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a.count > b.count;
  });
  return rows;
}

std::string number_of(const ImageRow& row, std::size_t number) {
  return row.is_read ? std::to_string(number) : "-";
}

} // namespace

std::string images_as_text(const std::vector<ImageRow>& rows) {
  if (rows.empty()) return {};
  std::string text = "ptxasw launch: images that were loaded (PTX: for this chip)\n";
  text += formatted("%10s %5s %8s %9s  %-15s %s\n", "images", "PTX", "kernels", "versions", "state",
                    "file");
  for (const ImageRow& row : sorted(rows)) {
    text += formatted("%10llu %5s %8s %9s  %-15s ", static_cast<unsigned long long>(row.count),
                      row.has_text ? "yes" : "no", number_of(row, row.kernels).c_str(),
                      number_of(row, row.versions).c_str(), row.code.c_str());
    text += row.from + (row.words.empty() ? "" : ": " + row.words) + '\n';
  }
  return text;
}

std::string images_as_json(const std::vector<ImageRow>& rows) {
  std::string text = "[";
  for (const ImageRow& row : sorted(rows)) {
    text += text.size() == 1 ? "\n  {" : ",\n  {";
    text += "\"file\": " + quoted(row.from) + ", \"state\": " + quoted(row.code) +
            ", \"words\": " + quoted(row.words) +
            formatted(", \"images\": %llu, \"ptx\": %s", static_cast<unsigned long long>(row.count),
                      row.has_text ? "true" : "false");
    if (row.is_read)
      text += formatted(", \"kernels\": %zu, \"versions\": %zu", row.kernels, row.versions);
    text += '}';
  }
  return text + "\n]";
}

} // namespace ptxasw::launch
