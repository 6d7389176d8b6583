# Results on another processor, bit for bit those of this one: bits_of_programs prints a number for each
# of many programs, here and, where the build is for 64-bit ARM, in the emulator. What it prints here is
# from another build, RONDO_NATIVE_BUILD.

if(NOT RONDO_SANITIZE)
  add_executable(bits_of_programs "${CMAKE_CURRENT_LIST_DIR}/bits_of_programs.cc")
  rondo_configure_target(bits_of_programs)
  target_link_libraries(bits_of_programs PRIVATE rondo_test_support)
endif()

if(TARGET bits_of_programs AND CMAKE_CROSSCOMPILING AND CMAKE_CROSSCOMPILING_EMULATOR AND Python3_Interpreter_FOUND)
  set(RONDO_NATIVE_BUILD "${PROJECT_SOURCE_DIR}/build/release"
      CACHE PATH "A build for this machine, with whose results the tests compare those of this build")
  foreach(arguments "functions" "usual 0 40" "dangers 0 40" "units 0 30" "long 0 6" "deep 0 12" "gradients 0 24"
                    "gradients_of_dangers 0 12" "batches 0 30" "batches_of_dangers 0 16" "batches_of_gradients 0 10")
    string(REPLACE " " ";" words "${arguments}")
    list(GET words 0 kind)
    add_test(NAME bits.${kind}
             COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/compare.py"
                     "${RONDO_NATIVE_BUILD}/tests/bits_of_programs" $<TARGET_FILE:bits_of_programs> ${words} --
                     ${CMAKE_CROSSCOMPILING_EMULATOR})
    # A processor without anything that is optional, while the suites run on one with everything.
    set_tests_properties(bits.${kind} PROPERTIES LABELS bits TIMEOUT 600 SKIP_RETURN_CODE 77
                                                 ENVIRONMENT QEMU_CPU=cortex-a57)
  endforeach()
endif()
