# The target rondo::rondo, and rondo_internal for those of our own programs that look inside.

configure_file("${PROJECT_SOURCE_DIR}/include/rondo/version.h.in"
               "${PROJECT_BINARY_DIR}/generated/rondo/version.h" @ONLY)

file(GLOB_RECURSE rondo_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src"
     "${PROJECT_SOURCE_DIR}/src/*.cc")
list(FILTER rondo_sources EXCLUDE REGEX "^cli/")
list(SORT rondo_sources)

set(rondo_source_paths ${rondo_sources})
list(TRANSFORM rondo_source_paths PREPEND "${PROJECT_SOURCE_DIR}/src/")
if(NOT rondo_source_paths)
  # A library must have a source; an empty one stands in until src/ has its first.
  file(WRITE "${PROJECT_BINARY_DIR}/empty.cc" "")
  set(rondo_source_paths "${PROJECT_BINARY_DIR}/empty.cc")
endif()

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
    "${PROJECT_SOURCE_DIR}/src/ops/blas.cc"
    PROPERTIES COMPILE_DEFINITIONS "RONDO_OPENBLAS_SONAME=\"${RONDO_OPENBLAS_SONAME}\"")
endif()
if(RONDO_HIGHWAY_SONAME)
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/src/ops/sort_keys.cc"
    PROPERTIES COMPILE_DEFINITIONS "RONDO_HIGHWAY_SONAME=\"${RONDO_HIGHWAY_SONAME}\"")
endif()

add_library(rondo ${rondo_source_paths})
add_library(rondo::rondo ALIAS rondo)
rondo_configure_target(rondo)
set_target_properties(rondo PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION
                                       ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(rondo PUBLIC cxx_std_20)
target_include_directories(
  rondo
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
         $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE "${PROJECT_SOURCE_DIR}/src")
target_include_directories(rondo SYSTEM PRIVATE ${RONDO_OPTIONAL_INCLUDES})
target_compile_definitions(rondo PRIVATE ${RONDO_OPTIONAL_DEFINITIONS})
target_link_libraries(rondo PRIVATE ${RONDO_LINK_LIBRARIES} ${RONDO_OPTIONAL_LIBRARIES})
get_target_property(rondo_type rondo TYPE)
if(rondo_type STREQUAL "SHARED_LIBRARY")
  target_compile_definitions(rondo PUBLIC RONDO_SHARED)
endif()

# g++ 12 sees absl::InlinedVector move its inline storage and takes it for uninitialised (GCC PR
# 105593 is of this kind). clang++ and the sanitizers look for what the warning is about.
set(rondo_gcc_moves "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(rondo_gcc_moves -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
if(RONDO_UNITY_BUILD)
  set_target_properties(rondo PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
  # Names of one source shadow those of another only because they meet in one unit. Sources with
  # separate options would be left out of the units.
  target_compile_options(rondo PRIVATE -Wno-shadow ${rondo_gcc_moves})
elseif(rondo_gcc_moves)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/src/executor/lower_arrays.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lower_branches.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lower_loops.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lower_places.cc"
                      "${PROJECT_SOURCE_DIR}/src/executor/lowering.cc"
                      "${PROJECT_SOURCE_DIR}/src/native/lane_blocks.cc"
               APPEND PROPERTY COMPILE_OPTIONS ${rondo_gcc_moves})
endif()

if(RONDO_PRECOMPILED_HEADERS)
  target_precompile_headers(
    rondo
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

# Tests and benchmarks include headers of src/. A shared library hides what is behind
# them, so there they link the same objects as an archive.
if(RONDO_BUILD_TESTS OR RONDO_BUILD_BENCHMARKS)
  if(rondo_type STREQUAL "SHARED_LIBRARY")
    add_library(rondo_internal STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:rondo>)
    set_target_properties(rondo_internal PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(
      rondo_internal INTERFACE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/generated")
    target_compile_definitions(rondo_internal INTERFACE RONDO_SHARED)
    target_compile_features(rondo_internal INTERFACE cxx_std_20)
  else()
    add_library(rondo_internal INTERFACE)
    target_link_libraries(rondo_internal INTERFACE rondo)
  endif()
  target_include_directories(rondo_internal INTERFACE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(rondo_internal INTERFACE ${RONDO_LINK_LIBRARIES}
                                                 ${RONDO_OPTIONAL_LIBRARIES})
endif()
