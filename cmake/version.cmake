# PTXASW_VERSION from the newest tag v1.2.3 that HEAD comes from, and PTXASW_COMMIT; without git, or
# before the first tag, the version below and no commit.
set(PTXASW_VERSION 0.1.0)
set(PTXASW_COMMIT "")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/.git)
  macro(ptxasw_git result)
    execute_process(COMMAND ${GIT_EXECUTABLE} ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
      OUTPUT_VARIABLE ${result} OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endmacro()
  ptxasw_git(PTXASW_COMMIT rev-parse --short=12 HEAD)
  ptxasw_git(PTXASW_TAG describe --tags --abbrev=0 --match "v[0-9]*")
  if(PTXASW_TAG MATCHES "^v([0-9]+\\.[0-9]+\\.[0-9]+)$")
    set(PTXASW_VERSION ${CMAKE_MATCH_1})
  endif()
  # A new commit configures anew.
  ptxasw_git(PTXASW_LOG rev-parse --git-path logs/HEAD)
  cmake_path(ABSOLUTE_PATH PTXASW_LOG BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(EXISTS ${PTXASW_LOG})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PTXASW_LOG})
  endif()
endif()
