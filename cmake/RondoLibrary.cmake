# The library in three, each with the folders of src/ that it has, and linked in one direction:
#
#   rondo::core      traces, differentiates, batches, prints, and runs programs by the reference
#   rondo::compiler  the compiled executor, on core
#   rondo::pjrt      programs on the devices of PJRT plugins, on core
#   rondo::rondo     all of them: what a user links
#
# With BUILD_SHARED_LIBS they are one shared library. rondo_internal is for those of our own programs
# that look inside.

configure_file("${PROJECT_SOURCE_DIR}/include/rondo/version.h.in"
               "${PROJECT_BINARY_DIR}/generated/rondo/version.h" @ONLY)

set(rondo_folders_of_compiler bytecode c executor lower/passes native)
set(rondo_folders_of_pjrt pjrt)

file(GLOB_RECURSE rondo_core_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src"
     "${PROJECT_SOURCE_DIR}/src/*.cc")
list(FILTER rondo_core_sources EXCLUDE REGEX "^cli/")  # the command: cmake/RondoCommand.cmake
foreach(part IN ITEMS compiler pjrt)
  list(JOIN rondo_folders_of_${part} "|" folders)
  set(rondo_${part}_sources ${rondo_core_sources})
  list(FILTER rondo_${part}_sources INCLUDE REGEX "^(${folders})/")
  list(FILTER rondo_core_sources EXCLUDE REGEX "^(${folders})/")
endforeach()

# Of core, what takes most of the time that running takes: loops over elements, the machine of the
# reference, the memory of nodes. Only this has the compiler's -O3, which makes the rest a third larger
# and no faster.
set(rondo_loops_of_core
    base/memory.cc
    interpreter/machine.cc
    ops/kernels/.*
    ops/arg_extreme.cc
    ops/arithmetic.cc
    ops/bits.cc
    ops/broadcast.cc
    ops/compare.cc
    ops/complex.cc
    ops/concatenate.cc
    ops/convert.cc
    ops/cumulative.cc
    ops/dynamic_slice.cc
    ops/exponential.cc
    ops/gather.cc
    ops/pad.cc
    ops/permute.cc
    ops/rng_bit_generator.cc
    ops/scatter.cc
    ops/select.cc
    ops/slice.cc
    ops/support.cc
    ops/threefry.cc
    ops/trigonometric.cc)
set(rondo_loops_sources ${rondo_core_sources})
list(JOIN rondo_loops_of_core "|" sources)
list(FILTER rondo_loops_sources INCLUDE REGEX "^(${sources})$")
# Of core, what a program that has core as text (rondo::header_only) links beside the loops, because to
# compile it takes as long as all else: the records of ops, what runs programs, texts.
set(rondo_folders_of_ops device gradient_check interpreter lower ops passes run solvers text)
set(rondo_ops_sources ${rondo_core_sources})
list(JOIN rondo_folders_of_ops "|" folders)
list(FILTER rondo_ops_sources INCLUDE REGEX "^(${folders})/")
list(REMOVE_ITEM rondo_ops_sources ${rondo_loops_sources})
set(rondo_text_sources ${rondo_core_sources})  # of core; the texts of other parts are not included
list(REMOVE_ITEM rondo_text_sources ${rondo_loops_sources} ${rondo_ops_sources})

set(RONDO_ABSL_TARGETS
    absl::btree
    absl::fixed_array
    absl::flat_hash_map
    absl::flat_hash_set
    absl::function_ref
    absl::hash
    absl::inlined_vector
    absl::span
    absl::strings)

# Only src/ includes Abseil and fmt, but header-only users compile src/ themselves.
set(RONDO_LINK_LIBRARIES ${RONDO_ABSL_TARGETS} fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})

set(RONDO_ZIP_DEFINITIONS "")
if(RONDO_ZIP_INCLUDE_DIR AND RONDO_ZIP_LIBRARY)
  set(RONDO_ZIP_DEFINITIONS RONDO_HAS_LIBZIP)
  # By its name: what is installed must not hold a path of the machine that built it.
  list(APPEND RONDO_LINK_LIBRARIES zip)
  get_filename_component(rondo_zip_dir "${RONDO_ZIP_LIBRARY}" DIRECTORY)
  if(NOT rondo_zip_dir IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    link_directories("${rondo_zip_dir}")
  endif()
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/base/npz.cc"
                              PROPERTIES COMPILE_DEFINITIONS RONDO_HAS_LIBZIP)
  if(NOT RONDO_ZIP_INCLUDE_DIR IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set_source_files_properties("${PROJECT_SOURCE_DIR}/src/base/npz.cc"
                                PROPERTIES INCLUDE_DIRECTORIES "${RONDO_ZIP_INCLUDE_DIR}")
  endif()
endif()

if(RONDO_OPENBLAS_SONAME)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/ops/kernels/blas.cc"
    PROPERTIES COMPILE_DEFINITIONS "RONDO_OPENBLAS_SONAME=\"${RONDO_OPENBLAS_SONAME}\"")
endif()
if(RONDO_HIGHWAY_SONAME)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/ops/kernels/sort_keys.cc"
    PROPERTIES COMPILE_DEFINITIONS "RONDO_HIGHWAY_SONAME=\"${RONDO_HIGHWAY_SONAME}\"")
endif()

# g++ 12 sees absl::InlinedVector move its inline storage and takes it for uninitialised (GCC PR
# 105593 is of this kind). clang++ and the sanitizers look for what the warning is about.
set(rondo_gcc_moves "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(rondo_gcc_moves -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
if(NOT RONDO_UNITY_BUILD AND rondo_gcc_moves)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/src/executor/lower_arrays.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lower_branches.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lower_loops.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lower_places.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lowering.cc"
                      "${PROJECT_SOURCE_DIR}/src/native/lane_blocks.cc"
               APPEND PROPERTY COMPILE_OPTIONS ${rondo_gcc_moves})
endif()

set(rondo_include_directories
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# The objects of one part, which archives and the shared library are made of.
set(rondo_all_objects "")
foreach(part IN ITEMS text ops loops compiler pjrt)
  set(objects rondo_${part}_objects)
  list(APPEND rondo_all_objects "$<TARGET_OBJECTS:${objects}>")
  set(paths ${rondo_${part}_sources})
  list(SORT paths)
  list(TRANSFORM paths PREPEND "${PROJECT_SOURCE_DIR}/src/")
  add_library(${objects} OBJECT ${paths})
  rondo_configure_target(${objects})
  # A product and a sum are rounded twice on every processor: results have the bits of the program.
  # Nothing asks for errno or for the flags of floating-point exceptions, which would keep loops from
  # being vectorized.
  target_compile_options(${objects} PRIVATE -ffp-contract=off -fno-math-errno -fno-trapping-math)
  # For --gc-sections below; a debug build has no use for it.
  target_compile_options(${objects} PRIVATE
                         $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-ffunction-sections;-fdata-sections>)
  set(header text)
  if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3")
    if(part MATCHES "^(text|ops|pjrt)$")
      target_compile_options(${objects} PRIVATE $<$<CONFIG:Release>:-O2>)
    elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
      set(header loops)
    endif()
  endif()
  if(RONDO_BUILD_FUZZERS)
    # Readers, and what they call, tell libFuzzer which inputs are new. The rest would only be slower.
    if(part MATCHES "^(text|ops)$")
      target_compile_options(${objects} PRIVATE -fsanitize=fuzzer-no-link)
    else()
      set(header loops)
    endif()
  endif()
  target_compile_features(${objects} PUBLIC cxx_std_20)
  target_include_directories(${objects} PRIVATE "${PROJECT_SOURCE_DIR}/src"
                                                ${rondo_include_directories})
  target_include_directories(${objects} SYSTEM PRIVATE ${RONDO_OPTIONAL_INCLUDES})
  target_compile_definitions(${objects} PRIVATE ${RONDO_OPTIONAL_DEFINITIONS})
  target_link_libraries(${objects} PRIVATE ${RONDO_LINK_LIBRARIES} ${RONDO_OPTIONAL_LIBRARIES})
  if(BUILD_SHARED_LIBS)
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${objects} PRIVATE RONDO_SHARED)
  endif()
  if(RONDO_UNITY_BUILD)
    # Half of a unit's time goes to templates that each unit instantiates: three times as many sources take
    # 0.7 of the time. More than 48 take more than 2 GB of memory.
    set_target_properties(${objects} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 48)
    # Names of one source shadow those of another only because they meet in one unit. Sources with
    # separate options would be left out of the units.
    target_compile_options(${objects} PRIVATE -Wno-shadow ${rondo_gcc_moves})
  endif()
  # One for all parts with the same options: g++ compiles a unit as its precompiled header was.
  if(RONDO_PRECOMPILED_HEADERS AND NOT part STREQUAL header)
    target_precompile_headers(${objects} REUSE_FROM rondo_${header}_objects)
  elseif(RONDO_PRECOMPILED_HEADERS)
    target_precompile_headers(
      ${objects}
      PRIVATE
      <absl/container/flat_hash_map.h>
      <absl/container/flat_hash_set.h>
      <absl/container/inlined_vector.h>
      <absl/types/span.h>
      <fmt/format.h>
      <algorithm>
      <array>
      <cmath>
      <complex>
      <cstdint>
      <functional>
      <limits>
      <map>
      <memory>
      <mutex>
      <optional>
      <span>
      <string>
      <string_view>
      <tuple>
      <utility>
      <variant>
      <vector>)
  endif()
endforeach()

if(RONDO_WITH_VIXL_FOUND)
  target_include_directories(rondo_compiler_objects SYSTEM PRIVATE "${RONDO_VIXL_INCLUDE_DIR}")
endif()

function(rondo_set_interface target)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE ${rondo_include_directories})
endfunction()

set(rondo_libraries rondo rondo_core rondo_compiler rondo_pjrt)
if(BUILD_SHARED_LIBS)
  set(rondo_type SHARED_LIBRARY)
  add_library(rondo SHARED ${rondo_all_objects})
  set_target_properties(rondo PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                         SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_definitions(rondo INTERFACE RONDO_SHARED)
  target_link_libraries(rondo PRIVATE ${RONDO_LINK_LIBRARIES} ${RONDO_OPTIONAL_LIBRARIES})
  rondo_set_interface(rondo)
  foreach(part IN ITEMS core compiler pjrt)
    add_library(rondo_${part} INTERFACE)
    target_link_libraries(rondo_${part} INTERFACE rondo)
  endforeach()
else()
  set(rondo_type STATIC_LIBRARY)
  add_library(
    rondo_core_archive STATIC $<TARGET_OBJECTS:rondo_text_objects> $<TARGET_OBJECTS:rondo_ops_objects>
                              $<TARGET_OBJECTS:rondo_loops_objects>)
  foreach(part IN ITEMS compiler pjrt)
    add_library(rondo_${part}_archive STATIC $<TARGET_OBJECTS:rondo_${part}_objects>)
  endforeach()
  foreach(part IN ITEMS core compiler pjrt)
    set_target_properties(rondo_${part}_archive PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME rondo_${part}
                                                           EXPORT_NAME ${part}_archive)
  endforeach()
  foreach(part IN ITEMS core compiler pjrt)
    add_library(rondo_${part} INTERFACE)
  endforeach()
  target_link_libraries(rondo_core_archive INTERFACE ${RONDO_LINK_LIBRARIES} ${RONDO_OPTIONAL_LIBRARIES})
  target_link_libraries(rondo_core INTERFACE rondo_core_archive)
  # A program has only the functions and data of core that it can reach.
  if(NOT RONDO_SANITIZE)
    target_link_options(rondo_core_archive INTERFACE "LINKER:--gc-sections")
  endif()
  rondo_set_interface(rondo_core)
  # Nothing names the executor, which registers itself (src/executor/backend.cc).
  target_link_options(rondo_compiler_archive INTERFACE "LINKER:-u,rondo_compiler")
  target_link_libraries(rondo_compiler INTERFACE rondo_compiler_archive rondo_core)
  target_link_libraries(rondo_pjrt INTERFACE rondo_pjrt_archive rondo_core)
  add_library(rondo INTERFACE)
  target_link_libraries(rondo INTERFACE rondo_compiler rondo_pjrt)
  list(APPEND rondo_libraries rondo_core_archive rondo_compiler_archive rondo_pjrt_archive)
endif()
add_library(rondo::rondo ALIAS rondo)
foreach(part IN ITEMS core compiler pjrt)
  add_library(rondo::${part} ALIAS rondo_${part})
  set_target_properties(rondo_${part} PROPERTIES EXPORT_NAME ${part})
endforeach()

# Tests, benchmarks and the command include headers of src/. A shared library hides what is behind
# them, so there they link the same objects as an archive.
if(RONDO_BUILD_TESTS OR RONDO_BUILD_BENCHMARKS OR RONDO_BUILD_COMMAND
   OR RONDO_BUILD_FUZZERS)
  if(BUILD_SHARED_LIBS)
    add_library(rondo_internal STATIC EXCLUDE_FROM_ALL ${rondo_all_objects})
    set_target_properties(rondo_internal PROPERTIES LINKER_LANGUAGE CXX)
    target_link_options(rondo_internal INTERFACE "LINKER:-u,rondo_compiler")
    target_compile_definitions(rondo_internal INTERFACE RONDO_SHARED)
    rondo_set_interface(rondo_internal)
  else()
    add_library(rondo_internal INTERFACE)
    target_link_libraries(rondo_internal INTERFACE rondo)
    add_library(rondo_core_internal INTERFACE)
    target_link_libraries(rondo_core_internal INTERFACE rondo_core)
    target_include_directories(rondo_core_internal INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(rondo_core_internal INTERFACE ${RONDO_LINK_LIBRARIES})
  endif()
  target_include_directories(rondo_internal INTERFACE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(rondo_internal INTERFACE ${RONDO_LINK_LIBRARIES}
                                                 ${RONDO_OPTIONAL_LIBRARIES})
endif()
