# Programs as C on an emulated microcontroller, where the compiler and the emulator for it are installed;
# elsewhere the test says that it is skipped.

if(NOT RONDO_SANITIZE AND Python3_Interpreter_FOUND)
  add_executable(firmware_programs "${CMAKE_CURRENT_LIST_DIR}/programs.cc")
  rondo_configure_target(firmware_programs)
  target_link_libraries(firmware_programs PRIVATE rondo::rondo)
  target_compile_options(firmware_programs PRIVATE -Wno-shadow "$<$<CONFIG:Release>:-O1>")
  add_test(NAME firmware COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/run.py"
                                 $<TARGET_FILE:firmware_programs>)
  set_tests_properties(firmware PROPERTIES LABELS c TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
