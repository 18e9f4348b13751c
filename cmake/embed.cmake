# ptxasw_embed(HEADER NAMESPACE NAME FILE [NAME FILE]...): a header with each file's text as the
# constant NAME, made anew when a file changes.
function(ptxasw_embed header namespace)
  set(text "#pragma once\n#include <string_view>\nnamespace ${namespace} {\n")
  while(ARGN)
    list(POP_FRONT ARGN name file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
    file(READ ${PROJECT_SOURCE_DIR}/${file} content)
    string(APPEND text "inline constexpr std::string_view ${name} = R\"embedded(${content})embedded\";\n")
  endwhile()
  file(GENERATE OUTPUT ${header} CONTENT "${text}}\n")
endfunction()
