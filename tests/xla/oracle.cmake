# The tests against real XLA. StableHLO text goes to a PJRT plugin in the process of the test
# (pjrt/pjrt.cmake finds it). HLO text, which plugins do not take, needs a Python with the packages of
# requirements.txt: RONDO_XLA_PYTHON (a variable of CMake or of the environment), or the virtual
# environment that scripts/test makes. Without these the programs are built and their tests are left
# out, except where CI requires them.

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

# What is tested here are our texts: XLA optimises little, which takes less time, and rounds to
# halves where a program says so. The tests of the client (tests/pjrt) have programs as users do.
set(xla_flags "XLA_FLAGS=--xla_backend_optimization_level=0 --xla_allow_excess_precision=false")
set(xla_plugin_environment "${pjrt_environment};${xla_flags};TF_CPP_MIN_LOG_LEVEL=3")

# One server has JAX loaded for all programs.
if(xla_python AND pjrt_plugin)
  set(xla_socket "${CMAKE_CURRENT_BINARY_DIR}/xla.socket")
  set(xla_oracle "${CMAKE_CURRENT_LIST_DIR}/oracle.py")
  add_test(NAME xla.start COMMAND "${xla_python}" "${xla_oracle}" --listen "${xla_socket}")
  add_test(NAME xla.stop COMMAND "${xla_python}" "${xla_oracle}" --stop "${xla_socket}")
  set_tests_properties(xla.start PROPERTIES LABELS xla FIXTURES_SETUP xla_server ENVIRONMENT
                                            "${xla_flags}")
  set_tests_properties(xla.stop PROPERTIES LABELS xla FIXTURES_CLEANUP xla_server)
  set(xla_environment
      "${xla_plugin_environment};RONDO_XLA_PYTHON=${xla_python};RONDO_XLA_SOCKET=${xla_socket}")
endif()

foreach(source IN LISTS xla_tests)
  get_filename_component(name "${source}" NAME_WE)
  rondo_add_test_program(xla_${name} "${source}")
  if(xla_support)
    target_link_libraries(xla_${name} PRIVATE rondo_xla_support)
  endif()
  if(xla_python AND pjrt_plugin)
    add_test(NAME xla.${name} COMMAND xla_${name})
    set_tests_properties(
      xla.${name} PROPERTIES LABELS xla TIMEOUT 1200 FIXTURES_REQUIRED xla_server
                                     ENVIRONMENT "${xla_environment}")
  endif()
endforeach()

# Other programs, with everything that they run compared with XLA as well (watch/watch.cc), by the
# plugin in their own process.
set_source_files_properties(
  "${PROJECT_SOURCE_DIR}/src/run/compile.cc" "${PROJECT_SOURCE_DIR}/src/run/execute.cc" TARGET_DIRECTORY rondo_ops_objects
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON) # --wrap sees no calls within one unit
add_library(rondo_xla_watch OBJECT "${PROJECT_SOURCE_DIR}/tests/xla/watch/watch.cc")
rondo_configure_target(rondo_xla_watch)
target_link_libraries(rondo_xla_watch PRIVATE rondo_test_support)
#   rondo_watch_with_xla(TARGET [ENVIRONMENT_VARIABLE=VALUE]...)
function(rondo_watch_with_xla target)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:rondo_xla_watch>)
  target_link_options(
    ${target} PRIVATE
    "LINKER:--wrap=_ZN5rondo7compileERKNS_8FunctionERKNS_14CompileOptionsE"
    "LINKER:--wrap=_ZNK5rondo10Executable3runESt4spanIKNS_7LiteralELm18446744073709551615EERKNS_10RunOptionsE"
  )
  if(pjrt_plugin)
    add_test(NAME plugin.${target} COMMAND ${target})
    set_tests_properties(plugin.${target} PROPERTIES LABELS xla TIMEOUT 1200
                                                     ENVIRONMENT "${xla_plugin_environment};${ARGN}")
  endif()
endfunction()

# Not among them are tests of ops where XLA's CPU compiler is known to differ: it flushes denormals,
# reads six bits of an integer's exponent, refuses sizes whose product overflows where an array is
# empty, and has a power that is further off than ours is measured to be. Each op has more cases in the
# *_test.cc here. Of the thousands of programs of a folder the first of each test is compared and a
# sample of the others; RONDO_XLA_EVERY=1 compares all of them. XLA dies of a reducer that sorts; random
# bodies are there to be counted and amplify what is rounded otherwise, as large random matrices do; it
# does not have our C++ functions; it recurses on the depth of nested loops; it takes a trip of a loop
# from 6 below 5 in steps of 2, if these are constants, and indices that would go around have no while in
# texts; the phases of complex eigenvectors and singular vectors are what rounding makes of them
# (linear_algebra_test.cc compares what they determine); of small dtypes it lacks products (s2) and functions (f4), and -NaN as an f4 is -0, not 0 as of ml_dtypes; pages and blocks of memory are counted of the built-in executors alone. Random programs have a
# test of their own (random_test.cc).
set(watched_control_flow "GTEST_FILTER=-For.CountsUpAndDown:For.CountsToTheEndsOfEachDtype")
set(watched_batching
    RONDO_XLA_EVERY=25
    "GTEST_FILTER=-VmapErrors.NameTheOpThatCannotBeBatchedAndItsLine:*/custom_call")
set(watched_gradients RONDO_XLA_EVERY=40 "GTEST_FILTER=-GradientErrors.AnOpWithoutADerivative:Cost.OfRandomBodies:DeepNests.*")
set(watched_programs "GTEST_FILTER=-PageFaults.*")
set(watched_transforms RONDO_XLA_EVERY=25 "GTEST_FILTER=-Allocations.RunsOnSixteenThreads*")
set(watched_ops
    RONDO_XLA_EVERY=20
    "GTEST_FILTER=-*.PowersWrap:Compare.FloatsWithNanAndZeros:Convert.ToPredAsksForNonzero:LongEmpty.*:Accuracy.*:ElementwiseBits.*:ComplexVectors.*:CustomCall.*:Lapack.*:SmallTypes.IntegersWrapAtEachOp:SmallTypes.FloatsAreComputedInF32AndRounded:SmallTypes.RoundToTheNearest"
)
foreach(folder batching control_flow gradients programs transforms tree ops)
  if(TARGET ${folder}_tests)
    add_executable(xla_${folder} $<TARGET_OBJECTS:${folder}_tests>)
    rondo_configure_target(xla_${folder})
    target_link_libraries(xla_${folder} PRIVATE rondo_test_support)
    rondo_watch_with_xla(xla_${folder} ${watched_${folder}})
  endif()
endforeach()

if(RONDO_BUILD_EXAMPLES)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/[0-9]*.cc")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(xla_example_${name} $<TARGET_OBJECTS:example_${name}>)
    rondo_configure_target(xla_example_${name})
    target_link_libraries(xla_example_${name} PRIVATE rondo_test_support)
    set(watched "")
    # The orbit passes by the moon and amplifies what is rounded otherwise: sensitivities of order 1e4
    # differ by 2e-6, also in the element that is 42.
    if(name STREQUAL "16_arenstorf_orbit")
      set(watched RONDO_XLA_RTOL=1e-7)
    endif()
    rondo_watch_with_xla(xla_example_${name} ${watched})
  endforeach()
endif()
