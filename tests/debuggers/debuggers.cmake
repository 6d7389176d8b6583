# gdb prints values of a program with Rondo's printers, which it has to find by itself. Where there is
# no gdb the test says that it is skipped, except in CI, which has one. The leak sanitizer does not run
# under a debugger.

if(Python3_Interpreter_FOUND AND RONDO_GDB_PRINTERS AND NOT RONDO_SANITIZE)
  add_executable(debugged_values "${CMAKE_CURRENT_LIST_DIR}/values.cc")
  rondo_configure_target(debugged_values)
  # A user's program that is debugged, whatever the library is.
  target_compile_options(debugged_values PRIVATE -g -O0 -Wno-unused-variable -Wno-unused-but-set-variable)
  target_link_libraries(debugged_values PRIVATE rondo_core)
  add_test(NAME debuggers.gdb COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/gdb_test.py"
                                      $<TARGET_FILE:debugged_values> "${PROJECT_BINARY_DIR}")
  set_tests_properties(debuggers.gdb PROPERTIES LABELS debuggers TIMEOUT 120 SKIP_RETURN_CODE 77)

  add_executable(debugged_loops "${CMAKE_CURRENT_LIST_DIR}/loops.cc")
  rondo_configure_target(debugged_loops)
  target_compile_options(debugged_loops PRIVATE -g -O0)
  target_link_libraries(debugged_loops PRIVATE rondo_core rondo_compiler)
  add_test(NAME debuggers.loops COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/loops_test.py"
                                        $<TARGET_FILE:debugged_loops> "${CMAKE_CURRENT_LIST_DIR}/loops.cc")
  add_test(NAME debuggers.dump COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/dump_test.py"
                                       $<TARGET_FILE:debugged_loops> "${CMAKE_CURRENT_LIST_DIR}/loops.cc")
  set_tests_properties(debuggers.loops debuggers.dump PROPERTIES LABELS debuggers TIMEOUT 120 SKIP_RETURN_CODE 77)
endif()
