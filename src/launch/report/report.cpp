// The table of kernels and shapes as text and JSON.
#include "launch/report/report.hpp"

#include "launch/log.hpp"
#include "launch/text.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

struct Row {
  std::string kernel, grid, block, variant, note;
  std::uint64_t launches = 0, checked = 0, unchecked = 0;
  double microseconds = 0; // of one launch; 0: not measured
  double gain = 0;         // 0: not measured
  double predicted = 0;    // by the model; 0: nothing is known
  [[nodiscard]] double total() const { return microseconds * static_cast<double>(launches) / 1000; }
};

Row row_of(const Shapes& kernel, Shape& shape) {
  const std::lock_guard lock(shape.mutex);
  const unsigned chosen = shape.chosen;
  Row row{.kernel = kernel.kernel(),
          .grid = text_of(shape.grid),
          .block = text_of(shape.block),
          .variant = kernel.variants().at(chosen),
          .launches = shape.launches,
          .checked = shape.checked,
          .unchecked = shape.unchecked};
  const Timing &before = shape.timings[0], &after = shape.timings[chosen];
  row.microseconds = after.mean();
  // The least times: launches wait for each other now and then.
  if (before.samples != 0 && after.samples != 0) row.gain = before.least / after.least;
  if (shape.predicted.at(0) > 0) row.predicted = shape.predicted.at(chosen) / shape.predicted[0];
  if (const std::uint64_t merged = shape.merged; merged != 0)
    row.note = formatted("%llu launches did several steps each, of %llu",
                         static_cast<unsigned long long>(shape.groups),
                         static_cast<unsigned long long>(merged));
  else if (const std::uint64_t early = shape.early; early != 0)
    row.note = formatted("%llu began early", static_cast<unsigned long long>(early));
  if (!shape.decided) row.note += row.note.empty() ? "still trying" : "; still trying";
  return row;
}

std::vector<Row> rows_of(const std::vector<std::shared_ptr<Shapes>>& kernels) {
  std::vector<Row> rows;
  for (const auto& kernel : kernels) {
    if (const std::uint64_t launches = kernel->launches; launches != 0)
      rows.push_back({.kernel = kernel->kernel(),
                      .grid = "",
                      .block = "",
                      .variant = "-",
                      .note = kernel->why(),
                      .launches = launches});
    for (Shape* shape : kernel->all())
      rows.push_back(row_of(*kernel, *shape));
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return a.total() != b.total() ? a.total() > b.total() : a.launches > b.launches;
  });
  return rows;
}

std::string gain_of(const Row& row) {
  if (row.gain != 0) return formatted("%.2f", row.gain);
  const bool guessed = row.predicted != 0 && row.predicted != 1;
  return guessed ? formatted("~%.2f", row.predicted) : "";
}

std::string as_text(const std::vector<Row>& rows) {
  std::string text = "ptxasw launch: kernels and the shapes of their launches (~: as predicted)\n";
  text += formatted("%10s %10s %9s %6s  %-14s %-14s %-14s %s\n", "launches", "us each", "ms",
                    "gain", "version", "grid", "block", "kernel");
  std::uint64_t checked = 0, unchecked = 0;
  for (const Row& row : rows) {
    text += formatted(
        "%10llu %10s %9s %6s  %-14s %-14s %-14s ", static_cast<unsigned long long>(row.launches),
        row.microseconds == 0 ? "" : formatted("%.2f", row.microseconds).c_str(),
        row.microseconds == 0 ? "" : formatted("%.3f", row.total()).c_str(), gain_of(row).c_str(),
        row.variant.c_str(), row.grid.c_str(), row.block.c_str());
    text += row.kernel + (row.note.empty() ? "" : ": " + row.note) + '\n';
    checked += row.checked;
    unchecked += row.unchecked;
  }
  if (rows.empty()) {
    const bool has_driver = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr;
    text += std::string("  no kernel was launched through us") +
            (has_driver ? "\n" : ": no CUDA driver (libcuda.so.1) was loaded\n");
  }
  if (checked + unchecked != 0)
    text += formatted("%llu launches checked without a difference, %llu could not be checked\n",
                      static_cast<unsigned long long>(checked),
                      static_cast<unsigned long long>(unchecked));
  return text;
}

std::string as_json(const std::vector<Row>& rows) {
  std::string text = "{\"version\": 1, \"launches\": [";
  for (const Row& row : rows) {
    text += (&row == rows.data() ? "\n  {" : ",\n  {");
    text += "\"kernel\": " + quoted(row.kernel) + ", \"grid\": " + quoted(row.grid) +
            ", \"block\": " + quoted(row.block) + ", \"variant\": " + quoted(row.variant) +
            ", \"note\": " + quoted(row.note) +
            formatted(", \"launches\": %llu, \"microseconds\": %.3f, \"gain\": %.4f, "
                      "\"predicted\": %.4f, \"checked\": %llu, \"unchecked\": %llu}",
                      static_cast<unsigned long long>(row.launches), row.microseconds, row.gain,
                      row.predicted, static_cast<unsigned long long>(row.checked),
                      static_cast<unsigned long long>(row.unchecked));
  }
  return text + "\n]";
}

std::string names_of(const contract::Listed& version) {
  std::string text;
  for (const std::string& name : version.names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}

// What there was to choose from.
std::string versions_as_text(const std::vector<std::shared_ptr<Shapes>>& kernels) {
  std::string text;
  for (const auto& kernel : kernels) {
    if (kernel->versions().empty()) continue;
    if (text.empty()) text = "ptxasw launch: versions that there are, beside each kernel itself\n";
    text += "  " + kernel->kernel() + '\n';
    for (const contract::Listed& version : kernel->versions())
      text += formatted("    %-14s ", names_of(version).c_str()) + version.what +
              (version.is_steps ? " (time steps)\n" : "\n");
  }
  return text;
}

std::string versions_as_json(const std::vector<std::shared_ptr<Shapes>>& kernels) {
  std::string text = "[";
  for (const auto& kernel : kernels) {
    if (kernel->versions().empty()) continue;
    text += text.size() == 1 ? "\n  {" : ",\n  {";
    text += "\"kernel\": " + quoted(kernel->kernel()) + ", \"versions\": [";
    for (const contract::Listed& version : kernel->versions()) {
      text += &version == kernel->versions().data() ? "" : ", ";
      text += "{\"names\": [";
      for (const std::string& name : version.names)
        text += (&name == version.names.data() ? "" : ", ") + quoted(name);
      text += "], \"does\": " + quoted(version.what) + '}';
    }
    text += "]}";
  }
  return text + "\n]";
}

} // namespace

std::string report(const std::vector<std::shared_ptr<Shapes>>& kernels, const Totals& totals,
                   const Settings& settings) {
  for (const auto& kernel : kernels) {
    for (Shape* shape : kernel->all())
      collect(*shape);
  }
  std::vector<Row> rows = rows_of(kernels);
  const auto add = [&](std::uint64_t launches, const std::string& note) {
    if (launches == 0) return;
    rows.push_back({.kernel = "(any)",
                    .grid = "",
                    .block = "",
                    .variant = "-",
                    .note = note,
                    .launches = launches});
  };
  add(totals.with_attributes, "launched with attributes, which stay as they are");
  add(totals.batched, formatted("went out together, in %llu graphs",
                                static_cast<unsigned long long>(totals.graphs)));
  add(totals.passes, formatted("passes through several kernels, by %llu launches",
                               static_cast<unsigned long long>(totals.entries)));
  const std::vector<Advice> advice = advise(kernels, settings);
  if (!settings.report_file.ends_with(".json"))
    return images_as_text(totals.images) + as_text(rows) + versions_as_text(kernels) +
           advice_as_text(advice);
  return as_json(rows) + ", \"kernels\": " + versions_as_json(kernels) +
         ", \"images\": " + images_as_json(totals.images) +
         ", \"hints\": " + advice_as_json(advice) + "}\n";
}

void write_report_to(const std::string& name, std::string_view text) {
  const bool standard = name.empty();
  const int file = standard ? STDERR_FILENO
                            : ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) {
    say("the report cannot be written to %s", name.c_str());
    return;
  }
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!standard) ::close(file);
}

} // namespace ptxasw::launch
