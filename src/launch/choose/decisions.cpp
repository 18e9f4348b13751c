// Reads and writes the file of decisions, one line each.
#include "launch/choose/decisions.hpp"

#include "contract/json_reader.hpp"
#include "image/prepared.hpp"
#include "launch/text.hpp"
#include "store/files.hpp"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace ptxasw::launch {
namespace {

constexpr off_t largest_file = 4 << 20;
constexpr const char *slow = "slow", *merged = "merged"; // no entry is faster, or one is
constexpr const char *variant_member = "variant", *steps_member = "steps",
                     *passes_member = "passes", *graph_member = "graph";

// As to_line() would; the program waits for it.
std::string key_of_launches(std::uint64_t launches, const std::string& chip) {
  return R"({"launches":")" + hexadecimal(launches) + R"(","chip":)" + quoted(chip) + "}";
}

// Negative: it could not be opened. Its folder is made where it is not there yet.
int open_to_append(const std::string& file) {
  const auto open = [&] {
    return ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  };
  const int opened = open();
  if (opened >= 0 || errno != ENOENT) return opened;
  store::make_folders(file.substr(0, file.rfind('/')));
  return open();
}

} // namespace

std::string Decisions::usual_file() {
  const std::string folder =
      image::images_folder([](const char* name) -> const char* { return std::getenv(name); });
  return folder.empty() ? folder : folder + "/launches";
}

Decisions::Decisions(std::string file) : file_(std::move(file)) {
  struct stat info {};
  if (file_.empty() || ::stat(file_.c_str(), &info) != 0) return;
  if (info.st_size > largest_file) {
    ::unlink(file_.c_str());
    return;
  }
  std::ifstream in(file_);
  for (std::string line; std::getline(in, line);) {
    Json row = Json::parse(line, nullptr, false);
    for (const char* const member : {variant_member, steps_member, passes_member, graph_member}) {
      if (!JsonReader::has(row, member) || !row[member].is_string()) continue;
      const std::string value = row[member];
      row.erase(member);
      known_[{to_line(row), member}] = value;
    }
  }
}

std::string Decisions::key_of(const Kernel& kernel, const Shape& shape) {
  return to_line({{"code", hexadecimal(kernel.contract.code)},
                  {"chip", kernel.chip},
                  {"grid", text_of(shape.grid)},
                  {"block", text_of(shape.block)},
                  {"shared", shape.shared}});
}

std::optional<std::string> Decisions::find(const std::string& key, const char* member) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find({key, member});
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Decisions::find(const Kernel& kernel, const Shape& shape) {
  return find(key_of(kernel, shape), variant_member);
}

void Decisions::keep(const Kernel& kernel, const Shape& shape, const std::string& variant) {
  keep(key_of(kernel, shape), variant_member, variant);
}

void Decisions::keep(const std::string& key, const char* member, const std::string& value) {
  Json row = Json::parse(key);
  row[member] = value;
  const std::string line = to_line(row) + '\n';
  const std::lock_guard lock(mutex_);
  known_[{key, member}] = value;
  if (file_.empty()) return;
  const int file = open_to_append(file_);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
  ::close(file);
}

void Decisions::recall_steps(const Kernel& kernel, Shape& shape) {
  shape.steps_key = key_of(kernel, shape);
  const auto found = find(shape.steps_key, steps_member);
  if (!found) return;
  shape.is_merging_slow = *found == slow;
  shape.period.recall(*found);
}

void Decisions::keep_steps(const Shape& shape) {
  if (shape.steps_key.empty()) return;
  const std::string found = shape.is_merging_slow ? slow : shape.period.findings();
  if (!found.empty() && find(shape.steps_key, steps_member) != found)
    keep(shape.steps_key, steps_member, found);
}

LaunchMemory Decisions::of_launches(Together how) {
  const char* const member = how == Together::passes ? passes_member : graph_member;
  return {.recall = [this, member](std::uint64_t launches,
                                   const std::string& chip) -> std::optional<bool> {
            const auto found = find(key_of_launches(launches, chip), member);
            if (!found) return std::nullopt;
            return *found == merged;
          },
          .keep =
              [this, member](std::uint64_t launches, const std::string& chip, bool is_faster) {
                keep(key_of_launches(launches, chip), member, is_faster ? merged : slow);
              }};
}

} // namespace ptxasw::launch
