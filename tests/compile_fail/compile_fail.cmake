# Each *.cc here must not compile, and the compiler must say what its `// EXPECT: regex` lines say.
# With -DCONTROL it must compile, so that the file cannot fail for another reason.

file(GLOB compile_fail_cases CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/*.cc")
foreach(source IN LISTS compile_fail_cases)
  get_filename_component(name "${source}" NAME_WE)
  add_test(
    NAME compile_fail.${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DSOURCE=${source}"
      "-DINCLUDE_DIRS=${PROJECT_SOURCE_DIR}/include;${PROJECT_BINARY_DIR}/generated" -P
      "${CMAKE_CURRENT_LIST_DIR}/check.cmake")
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail TIMEOUT 120)
endforeach()
