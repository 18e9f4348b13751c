// Runs a program of bench/programs that was built as a shared library with -Dmain=plugin_main.
#include <cstdio>
#include <dlfcn.h>

int main(int, char** argv) {
  void* const library = ::dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::printf("%s\n", ::dlerror());
    return 2;
  }
  const auto run = reinterpret_cast<int (*)()>(::dlsym(library, "_Z11plugin_mainv"));
  return run == nullptr ? 2 : run();
}
