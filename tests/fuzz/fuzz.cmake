# Programs of libFuzzer for the readers, fuzz_hlo and so on: for clang++ alone. The whole build is
# instrumented, so it has a folder of its own; scripts/fuzz makes it.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "RONDO_BUILD_FUZZERS needs clang++. Configure with "
                      "-DCMAKE_CXX_COMPILER=clang++, or leave the fuzzers out.")
endif()
set(fuzz_readers stablehlo hlo ir program npy literal)
if(RONDO_ZIP_DEFINITIONS)
  list(APPEND fuzz_readers npz)
endif()
foreach(reader IN LISTS fuzz_readers)
  add_executable(fuzz_${reader} "${CMAKE_CURRENT_LIST_DIR}/target.cc")
  rondo_configure_target(fuzz_${reader})
  target_include_directories(fuzz_${reader} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(fuzz_${reader} PRIVATE "RONDO_FUZZ_READER=\"${reader}\"")
  target_link_libraries(fuzz_${reader} PRIVATE rondo_core_internal)
  target_link_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer)
endforeach()
