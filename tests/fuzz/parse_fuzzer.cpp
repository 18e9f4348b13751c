// libFuzzer target: any bytes through parser, printer and resolver.
//
//   cmake -S . -B build-fuzz -DCMAKE_CXX_COMPILER=clang++ -DPTXASW_FUZZER=ON
//   cmake --build build-fuzz --target parse_fuzzer
//   build-fuzz/tests/parse_fuzzer tests/corpus
#include "ptx/fuzz.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string text(data, data + size);
  const std::string problem = ptxasw::test::survive(text);
  if (!problem.empty()) {
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  return 0;
}
