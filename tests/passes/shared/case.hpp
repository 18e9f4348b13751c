// What the tests of rewrites share: the files of the suite, a kernel emulated without haste, and
// whether the real ptxas takes a result.
#pragma once

#include "emulator/emulate.hpp"
#include "ptx/parse.hpp"
#include "source_dir.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace ptxasw::test {

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string golden_ptx(const std::string& name) {
  return read_file(PTXASW_SOURCE_DIR "/tests/golden/ptx/" + name + ".ptx");
}

inline std::shared_ptr<const ptx::Module> parsed(std::string source) {
  return std::make_shared<const ptx::Module>(ptx::parse(std::move(source), "test.ptx"));
}

// Of the kernel's name; empty: of the first kernel.
inline emulator::Kernel emulate(const ptx::Module& module, const std::string& name) {
  constexpr std::chrono::seconds budget{30}; // whatever else the machine is doing
  for (const ptx::Function& f : module.functions)
    if (f.is_entry && !f.is_declaration && (name.empty() || f.name == name))
      return emulator::emulate(module, f, {.time = budget});
  throw std::runtime_error("no such kernel");
}

// `name` is what the files are called, beside the number of the process: tests run at the same
// time.
inline void expect_that_ptxas_takes(const std::string& text, const std::string& name) {
  const char* home = std::getenv("CUDA_HOME"); // NOLINT(concurrency-mt-unsafe)
  const std::string ptxas = fmt::format("{}/bin/ptxas", home != nullptr ? home : "/usr/local/cuda");
  if (!std::filesystem::exists(ptxas)) GTEST_SKIP() << "no ptxas here";
  const std::string stem = fmt::format("{}{}_{}", ::testing::TempDir(), name, ::getpid());
  std::ofstream(stem + ".ptx") << text;
  const std::string command =
      fmt::format("{} -O1 -arch=sm_90 -o {}.cubin {}.ptx", ptxas, stem, stem);
  EXPECT_EQ(std::system(command.c_str()), 0); // NOLINT(concurrency-mt-unsafe)
  std::filesystem::remove(stem + ".ptx");
  std::filesystem::remove(stem + ".cubin");
}

} // namespace ptxasw::test
