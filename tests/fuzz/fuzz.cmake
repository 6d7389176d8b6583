# Programs of libFuzzer for the readers, fuzz_hlo and so on: for clang++ alone. Each is a test with the
# label "fuzz", which runs as many inputs as take about a minute, the same ones each time; scripts/fuzz
# looks for others. Both begin with the inputs that are named in fuzz_seeds.txt.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "RONDO_BUILD_FUZZERS needs clang++. Configure with "
                      "-DCMAKE_CXX_COMPILER=clang++, or leave the fuzzers out.")
endif()

# The goldens, and the formats that they lack: the IR's own text and archives.
set(fuzz_goldens "${PROJECT_SOURCE_DIR}/tests/goldens")
file(GLOB_RECURSE fuzz_seeds CONFIGURE_DEPENDS "${fuzz_goldens}/program.*" "${fuzz_goldens}/*.npy")
set(fuzz_made "${CMAKE_CURRENT_BINARY_DIR}/fuzz_seeds")
file(MAKE_DIRECTORY "${fuzz_made}")
set(fuzz_made_seeds "${fuzz_made}/places.npz")
add_custom_command(
  OUTPUT "${fuzz_made}/places.npz"
  COMMAND ${CMAKE_COMMAND} -E tar cf "${fuzz_made}/places.npz" --format=zip in0.npy in1.npy
  WORKING_DIRECTORY "${fuzz_goldens}/order_and_places"
  VERBATIM)
file(GLOB programs CONFIGURE_DEPENDS "${fuzz_goldens}/*/program.mlir")
if(NOT TARGET rondo_program)
  set(programs "")  # no command prints them
endif()
foreach(program IN LISTS programs)
  get_filename_component(name "${program}" DIRECTORY)
  get_filename_component(name "${name}" NAME)
  list(APPEND fuzz_made_seeds "${fuzz_made}/${name}.ir.txt")
  add_custom_command(
    OUTPUT "${fuzz_made}/${name}.ir.txt"
    COMMAND rondo_program print "${program}" --to=ir > "${fuzz_made}/${name}.ir.txt"
    DEPENDS "${program}"
    VERBATIM)
endforeach()
add_custom_target(fuzz_seeds DEPENDS ${fuzz_made_seeds})
list(JOIN fuzz_seeds "," fuzz_list)
list(JOIN fuzz_made_seeds "," fuzz_made_list)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/fuzz_seeds.txt" "${fuzz_list},${fuzz_made_list}")

# rondo_add_fuzzer(READER RUNS)
function(rondo_add_fuzzer reader runs)
  add_executable(fuzz_${reader} "${PROJECT_SOURCE_DIR}/tests/fuzz/target.cc")
  add_dependencies(fuzz_${reader} fuzz_seeds)
  rondo_configure_target(fuzz_${reader})
  target_include_directories(fuzz_${reader} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  target_compile_definitions(fuzz_${reader} PRIVATE "RONDO_FUZZ_READER=\"${reader}\"")
  target_link_libraries(fuzz_${reader} PRIVATE rondo_core_internal)
  target_link_options(fuzz_${reader} PRIVATE -fsanitize=fuzzer)
  if(RONDO_BUILD_TESTS)
    add_test(NAME fuzz.${reader}
             COMMAND fuzz_${reader} -seed=1 -runs=${runs} -timeout=60 -rss_limit_mb=1024 -max_len=20000
                     "-seed_inputs=@${CMAKE_CURRENT_BINARY_DIR}/fuzz_seeds.txt"
                     "-artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/fuzz_${reader}_found_")
    set_tests_properties(fuzz.${reader} PROPERTIES LABELS fuzz TIMEOUT 1200)
  endif()
endfunction()
rondo_add_fuzzer(stablehlo 200000)
rondo_add_fuzzer(hlo 250000)
rondo_add_fuzzer(ir 200000)
rondo_add_fuzzer(program 80000)
rondo_add_fuzzer(npy 2000000)
rondo_add_fuzzer(literal 1800000)
if(RONDO_ZIP_DEFINITIONS)
  rondo_add_fuzzer(npz 70000)
endif()
