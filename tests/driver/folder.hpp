// A folder for the files of one test, gone at its end.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace ptxasw::test {

class Folder : public testing::Test {
protected:
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() override { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file;
  }
  const std::filesystem::path path =
      testing::TempDir() + "ptxasw-" +
      testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() + "-" +
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

} // namespace ptxasw::test
