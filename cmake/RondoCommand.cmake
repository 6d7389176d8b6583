# The command `rondo`: src/cli, on the library, with its manual and completions.

find_package(CLI11 QUIET)
if(NOT CLI11_FOUND)
  rondo_say_what_is_missing(CLI11 "the command `rondo` is left out" libcli11-dev)
  return()
endif()
file(GLOB rondo_command_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.cc")
list(FILTER rondo_command_sources EXCLUDE REGEX "/main[.]cc$")
add_library(rondo_command OBJECT ${rondo_command_sources})
rondo_configure_target(rondo_command)
set_target_properties(rondo_command PROPERTIES UNITY_BUILD ${RONDO_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 16)
target_link_libraries(rondo_command PUBLIC rondo_internal CLI11::CLI11)
add_executable(rondo_program "${PROJECT_SOURCE_DIR}/src/cli/main.cc" $<TARGET_OBJECTS:rondo_command>)
rondo_configure_target(rondo_program)
target_link_libraries(rondo_program PRIVATE rondo_command)
set_target_properties(rondo_program PROPERTIES OUTPUT_NAME rondo)
# The Python part of `rondo hosts`, which the command looks for at the same place here as beside its
# installed self.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/rondo")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/hosts" "${PROJECT_BINARY_DIR}/share/rondo/hosts" SYMBOLIC)
if(NOT RONDO_INSTALL)
  return()
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/src/hosts"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/rondo"
  COMPONENT command
  FILES_MATCHING
  PATTERN "*.py"
  PATTERN "__pycache__" EXCLUDE)
install(TARGETS rondo_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
if(CMAKE_CROSSCOMPILING)
  return() # the command itself writes the rest
endif()
set(rondo_texts "")
foreach(text IN ITEMS "man|rondo.1|${CMAKE_INSTALL_MANDIR}/man1"
                      "bash|rondo|${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
                      "zsh|_rondo|${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  string(REPLACE "|" ";" text "${text}")
  list(GET text 0 what)
  list(GET text 1 name)
  list(GET text 2 destination)
  set(path "${PROJECT_BINARY_DIR}/command/${what}/${name}")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/command/${what}")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND rondo_program describe ${what} > "${path}"
    DEPENDS rondo_program
    VERBATIM)
  install(FILES "${path}" DESTINATION "${destination}" COMPONENT command)
  list(APPEND rondo_texts "${path}")
endforeach()
add_custom_target(rondo_command_texts ALL DEPENDS ${rondo_texts})
