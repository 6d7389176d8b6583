# find_package with a message that says what to install.

macro(rondo_find_package name debian_package)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    message(
      FATAL_ERROR
        "Rondo needs ${name}, which was not found. On Debian and Ubuntu: "
        "apt-get install ${debian_package}. Elsewhere: install it and add its prefix to "
        "CMAKE_PREFIX_PATH.")
  endif()
endmacro()

# A project that adds Rondo may have brought these as targets of its own.
if(NOT TARGET absl::flat_hash_map)
  rondo_find_package(absl libabsl-dev)
endif()
if(NOT TARGET fmt::fmt)
  rondo_find_package(fmt libfmt-dev)
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
rondo_find_package(Threads libc6-dev)

# Optional: .npz files. Debian's own CMake package of libzip names tools that its -dev package does not
# bring, so the header and the library are looked for.
find_path(RONDO_ZIP_INCLUDE_DIR zip.h)
find_library(RONDO_ZIP_LIBRARY zip)
if(NOT RONDO_ZIP_INCLUDE_DIR OR NOT RONDO_ZIP_LIBRARY)
  message(STATUS "Rondo: no libzip, so save_npz and load_npz are refused. On Debian: apt-get install "
                 "libzip-dev.")
endif()

# What some ops are faster with. Without them the library has kernels of its own.
set(RONDO_OPTIONAL_LIBRARIES "")
set(RONDO_OPTIONAL_DEFINITIONS "")
set(RONDO_OPTIONAL_INCLUDES "")
macro(rondo_find_optional option name debian_package)
  set(${option}_FOUND FALSE)
  if(${option} STREQUAL "AUTO")
    find_package(${name} QUIET)
    set(${option}_FOUND ${${name}_FOUND})
  elseif(${option})
    rondo_find_package(${name} ${debian_package})
    set(${option}_FOUND TRUE)
  endif()
  if(${option}_FOUND)
    list(APPEND RONDO_OPTIONAL_DEFINITIONS ${option}=1)
  endif()
endmacro()
rondo_find_optional(RONDO_WITH_OPENBLAS OpenBLAS libopenblas-dev)
# A shared OpenBLAS is loaded by its name with the first large product: as it is loaded it starts a
# thread for each core, and counts of handles cost more from then on.
set(RONDO_OPENBLAS_SONAME "")
if(RONDO_WITH_OPENBLAS_FOUND)
  list(APPEND RONDO_OPTIONAL_INCLUDES ${OpenBLAS_INCLUDE_DIRS})
  if(CMAKE_READELF AND "${OpenBLAS_LIBRARIES}" MATCHES "^[^;]*\\.so$")
    execute_process(
      COMMAND "${CMAKE_READELF}" -d "${OpenBLAS_LIBRARIES}"
      OUTPUT_VARIABLE rondo_openblas_dynamic
      ERROR_QUIET)
    if(rondo_openblas_dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
      set(RONDO_OPENBLAS_SONAME "${CMAKE_MATCH_1}")
    endif()
  endif()
  if(NOT RONDO_OPENBLAS_SONAME)
    list(APPEND RONDO_OPTIONAL_LIBRARIES ${OpenBLAS_LIBRARIES})
  endif()
endif()
rondo_find_optional(RONDO_WITH_HIGHWAY hwy libhwy-dev)
if(RONDO_WITH_HIGHWAY_FOUND)
  list(APPEND RONDO_OPTIONAL_LIBRARIES hwy::hwy_contrib hwy::hwy)
endif()

# Native code is written with Xbyak, an assembler in headers. Without it programs run as bytecode.
set(RONDO_WITH_XBYAK_FOUND FALSE)
if(RONDO_WITH_XBYAK AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  find_path(RONDO_XBYAK_INCLUDE_DIR xbyak/xbyak.h)
  if(RONDO_XBYAK_INCLUDE_DIR)
    set(RONDO_WITH_XBYAK_FOUND TRUE)
    list(APPEND RONDO_OPTIONAL_DEFINITIONS RONDO_HAVE_XBYAK)
    list(APPEND RONDO_OPTIONAL_INCLUDES "${RONDO_XBYAK_INCLUDE_DIR}")
  endif()
endif()
if(RONDO_WITH_XBYAK
   AND NOT RONDO_WITH_XBYAK STREQUAL "AUTO"
   AND NOT RONDO_WITH_XBYAK_FOUND)
  message(FATAL_ERROR "RONDO_WITH_XBYAK is on, but there is no xbyak/xbyak.h for this processor. "
                      "On Debian and Ubuntu: apt-get install libxbyak-dev.")
endif()

if(RONDO_BUILD_TESTS)
  rondo_find_package(GTest libgtest-dev)
  if(NOT TARGET GTest::gmock)
    message(FATAL_ERROR "Rondo's tests need GoogleMock. On Debian and Ubuntu: "
                        "apt-get install libgmock-dev.")
  endif()
endif()
if(RONDO_BUILD_BENCHMARKS)
  rondo_find_package(benchmark libbenchmark-dev)
endif()
