# The tests of the PJRT client: those with a fake plugin run anywhere; those named Real* need real
# XLA, in the plugin that RONDO_PJRT_PLUGIN (a variable of the environment) names or that
# scripts/oracle installs. Without one they are left out, except where CI requires them.

set(pjrt_plugin "$ENV{RONDO_PJRT_PLUGIN}")
if(NOT pjrt_plugin)
  file(GLOB pjrt_plugins
       "${PROJECT_SOURCE_DIR}/build/xla-venv/lib/python3*/site-packages/lammps_jax_pjrt_cpu/*pjrt*.so")
  if(pjrt_plugins)
    list(GET pjrt_plugins 0 pjrt_plugin)
  endif()
endif()
if(pjrt_plugin)
  message(STATUS "Rondo: tests of the PJRT client use ${pjrt_plugin}")
  set(pjrt_environment "RONDO_PJRT_PLUGIN=${pjrt_plugin}")
elseif("$ENV{CI}" STREQUAL "true")
  message(FATAL_ERROR "Rondo's tests on a PJRT plugin are required in CI. scripts/test installs one; "
                      "or set RONDO_PJRT_PLUGIN.")
else()
  message(STATUS "Rondo: no PJRT plugin, so the tests that run on one are left out. scripts/test "
                 "installs it, or set RONDO_PJRT_PLUGIN.")
  set(pjrt_environment "GTEST_FILTER=-Real*")
endif()
if(RONDO_SANITIZE MATCHES "thread")
  # A sanitizer knows nothing of what a plugin does, which was built without it.
  set(pjrt_environment "GTEST_FILTER=*Thread*-Real*")
elseif(RONDO_SANITIZE)
  set(pjrt_environment "GTEST_FILTER=-Real*")
endif()

# The lesson about plugins runs on it as well.
set(RONDO_TEST_PLUGIN "${pjrt_plugin}" CACHE INTERNAL "")

add_library(rondo_fake_plugin MODULE "${CMAKE_CURRENT_LIST_DIR}/fake_plugin/fake_plugin.cc"
                                     "${CMAKE_CURRENT_LIST_DIR}/fake_plugin/program_text.cc")
rondo_configure_target(rondo_fake_plugin)
target_include_directories(rondo_fake_plugin PRIVATE "${PROJECT_SOURCE_DIR}/src"
                                                     "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_features(rondo_fake_plugin PRIVATE cxx_std_20)
add_dependencies(pjrt_tests rondo_fake_plugin)
target_compile_definitions(pjrt_tests
                           PRIVATE RONDO_FAKE_PLUGIN="$<TARGET_FILE:rondo_fake_plugin>")
set_property(TEST pjrt.0 pjrt.1 APPEND PROPERTY ENVIRONMENT "${pjrt_environment}")
