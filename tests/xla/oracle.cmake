# The tests against real XLA. They need a Python with the packages of requirements.txt: RONDO_XLA_PYTHON
# (a variable of CMake or of the environment), or the virtual environment that scripts/test makes.
# Without one the programs are built and their tests are left out, except where CI requires them.

set(RONDO_XLA_PYTHON "$ENV{RONDO_XLA_PYTHON}" CACHE FILEPATH "A Python with jax, for tests against real XLA")
set(xla_python "${RONDO_XLA_PYTHON}")
set(xla_venv_python "${PROJECT_SOURCE_DIR}/build/xla-venv/bin/python")
if(NOT xla_python AND EXISTS "${xla_venv_python}")
  set(xla_python "${xla_venv_python}")
endif()

file(GLOB xla_tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*_test.cc")
file(GLOB xla_support CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cc")
list(REMOVE_ITEM xla_support ${xla_tests})
if(xla_support)
  add_library(rondo_xla_support STATIC ${xla_support})
  rondo_configure_target(rondo_xla_support)
  target_link_libraries(rondo_xla_support PUBLIC rondo_test_settings)
endif()

if(xla_python)
  # Fails here, not in every test, when the interpreter lacks jax.
  execute_process(
    COMMAND "${xla_python}" -c "import jaxlib; print(jaxlib.__version__)"
    OUTPUT_VARIABLE xla_version
    ERROR_VARIABLE xla_error
    RESULT_VARIABLE xla_result
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT xla_result EQUAL 0)
    message(STATUS "Rondo: ${xla_python} cannot import jaxlib: ${xla_error}")
    set(xla_python "")
  endif()
endif()
if(xla_python)
  message(STATUS "Rondo: tests against real XLA use ${xla_python} (jaxlib ${xla_version})")
elseif("$ENV{CI}" STREQUAL "true")
  message(FATAL_ERROR "Rondo's tests against real XLA are required in CI and need a Python with jax. "
                      "scripts/test makes one; or set RONDO_XLA_PYTHON.")
else()
  message(STATUS "Rondo: no Python with jax, so the tests against real XLA (label xla) are left out. "
                 "scripts/test installs it, or set RONDO_XLA_PYTHON.")
endif()

foreach(source IN LISTS xla_tests)
  get_filename_component(name "${source}" NAME_WE)
  rondo_add_test_program(xla_${name} "${source}")
  if(xla_support)
    target_link_libraries(xla_${name} PRIVATE rondo_xla_support)
  endif()
  if(xla_python)
    add_test(NAME xla.${name} COMMAND xla_${name})
    set_tests_properties(
      xla.${name} PROPERTIES LABELS xla TIMEOUT 1200 ENVIRONMENT "RONDO_XLA_PYTHON=${xla_python}")
  endif()
endforeach()
