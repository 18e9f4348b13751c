// dlopen, then one dlsym for each function of the header that was read at build time.
#include "symbolic/z3_load.hpp"

#include <dlfcn.h>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ptxasw::sym {

namespace {

// Where it was when this was built, then wherever the system finds the same or any version.
void* open_library() {
  for (const char* name : {PTXASW_Z3_PATH, PTXASW_Z3_NAME, "libz3.so.4", "libz3.so"})
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  throw std::runtime_error("libz3 not found");
}

Z3Functions load() {
  void* const library = open_library(); // stays until the end of the process
  Z3Functions table{};
  each_function(table, [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) throw std::runtime_error(std::string("libz3 lacks ") + name);
  });
  return table;
}

} // namespace

const Z3Functions& z3_functions() {
  static const Z3Functions table = load();
  return table;
}

} // namespace ptxasw::sym
