# Writes ${output}: a table of pointers to the functions that Z3's headers declare, so that the
# library is loaded at the first query and not needed to start (see src/symbolic/z3_load.hpp).
function(ptxasw_z3_functions include output)
  file(GLOB headers ${include}/z3_*.h)
  set(names)
  foreach(header ${headers})
    file(STRINGS ${header} lines REGEX "Z3_API +Z3_[A-Za-z0-9_]+")
    foreach(line ${lines})
      string(REGEX REPLACE ".*Z3_API +(Z3_[A-Za-z0-9_]+).*" "\\1" name "${line}")
      list(APPEND names ${name})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(members)
  set(entries)
  set(defines)
  foreach(name ${names})
    string(APPEND members "  decltype(&::${name}) ${name};\n")
    string(APPEND entries "  visit(\"${name}\", table.${name});\n")
    string(APPEND defines "#define ${name} ::ptxasw::sym::z3_functions().${name}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// Generated from the headers of Z3 by cmake/z3_functions.cmake.
#pragma once
#include <z3.h>
namespace ptxasw::sym {
struct Z3Functions {
@members@};
template <class Visit> void each_function(Z3Functions& table, Visit visit) {
@entries@}
const Z3Functions& z3_functions();
} // namespace ptxasw::sym
@defines@")
endfunction()
