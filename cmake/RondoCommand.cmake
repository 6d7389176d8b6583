# The rondo command (src/cli).

if(EXISTS "${PROJECT_SOURCE_DIR}/src/cli/main.cc")
  file(GLOB_RECURSE rondo_cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/cli/*.cc")
  add_executable(rondo_command ${rondo_cli_sources})
  set_target_properties(rondo_command PROPERTIES OUTPUT_NAME rondo)
  rondo_configure_target(rondo_command)
  target_link_libraries(rondo_command PRIVATE rondo_internal CLI11::CLI11)
endif()
