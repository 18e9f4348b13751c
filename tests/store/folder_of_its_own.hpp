// A folder for one test, gone when it is done.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace ptxasw::store {

struct FolderOfItsOwn {
  FolderOfItsOwn() {
    std::string name = (std::filesystem::temp_directory_path() / "ptxasw-store-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  FolderOfItsOwn(const FolderOfItsOwn&) = delete;
  FolderOfItsOwn& operator=(const FolderOfItsOwn&) = delete;
  ~FolderOfItsOwn() {
    std::error_code failed;
    std::filesystem::remove_all(path, failed);
  }
  std::string path;
};

} // namespace ptxasw::store
