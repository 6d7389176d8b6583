# Each *.cc here must not compile, and the compilers (the build's own, and g++ and clang++ where they
# are) must say what its `// EXPECT: regex` lines say. With -DCONTROL it must compile, so that the
# file cannot fail for another reason.

set(compile_fail_compilers "${CMAKE_CXX_COMPILER}")
foreach(other IN ITEMS g++ clang++)
  find_program(RONDO_OTHER_${other} ${other})
  if(RONDO_OTHER_${other})
    get_filename_component(resolved "${RONDO_OTHER_${other}}" REALPATH)
    get_filename_component(own "${CMAKE_CXX_COMPILER}" REALPATH)
    if(NOT resolved STREQUAL own)
      list(APPEND compile_fail_compilers "${RONDO_OTHER_${other}}")
    endif()
  endif()
endforeach()

set(compile_fail_includes "${PROJECT_SOURCE_DIR}/include;${PROJECT_BINARY_DIR}/generated")
set(compile_fail_precompiled "${CMAKE_CURRENT_BINARY_DIR}/compile_fail_headers")
add_test(
  NAME compile_fail.headers
  COMMAND
    "${CMAKE_COMMAND}" "-DCOMPILERS=${compile_fail_compilers}" "-DINCLUDE_DIRS=${compile_fail_includes}"
    "-DOUTPUT_DIR=${compile_fail_precompiled}" -P "${CMAKE_CURRENT_LIST_DIR}/precompile.cmake")
set_tests_properties(compile_fail.headers PROPERTIES LABELS compile_fail TIMEOUT 120 FIXTURES_SETUP
                                                     compile_fail_headers)

file(GLOB compile_fail_cases CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cc")
foreach(source IN LISTS compile_fail_cases)
  get_filename_component(name "${source}" NAME_WE)
  add_test(
    NAME compile_fail.${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DCOMPILERS=${compile_fail_compilers}" "-DSOURCE=${source}"
      "-DINCLUDE_DIRS=${compile_fail_includes}" "-DPRECOMPILED_DIR=${compile_fail_precompiled}" -P
      "${CMAKE_CURRENT_LIST_DIR}/check.cmake")
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 120
                                                       FIXTURES_REQUIRED compile_fail_headers)
endforeach()
