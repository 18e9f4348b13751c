// nvlink knows its inputs by the ends of their names: so there is a folder.
#include "prepare/nvlink.hpp"

#include "driver/files.hpp"
#include "driver/process.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ptxasw::prepare {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code failed;
    std::string name = (fs::temp_directory_path(failed) / "ptxasw-XXXXXX").string();
    if (!failed && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; } // empty: there is none

private:
  std::string path_;
};

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::optional<std::string> find_nvlink(const std::string& ptxas) {
  std::error_code failed;
  const fs::path real = fs::canonical(ptxas, failed);
  for (const fs::path& beside : {fs::path(ptxas), real}) {
    std::string path = (beside.parent_path() / "nvlink").string();
    if (driver::is_executable_file(path)) return path;
  }
  return std::nullopt;
}

LinkedCubin link(const std::string& nvlink, const std::string& chip, const std::string& part) {
  const TemporaryFolder folder;
  const auto messages = driver::MemoryFile::create();
  if (folder.path().empty() || !messages) return {};
  const std::string input = folder.path() + "/text.cubin", output = folder.path() + "/linked.cubin";
  std::ofstream(input, std::ios::binary) << part;
  const auto ended = driver::run({.program = nvlink,
                                  .arguments = {"-arch=" + chip, input, "-o", output},
                                  .output = messages->descriptor(),
                                  .error = messages->descriptor()},
                                 driver::Environment::current());
  if (!ended || !ended->ok()) return {.interrupted = ended ? ended->interrupted : 0};
  return {.cubin = content_of(output), .interrupted = ended->interrupted};
}

} // namespace ptxasw::prepare
