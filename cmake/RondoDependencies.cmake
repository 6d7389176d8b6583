# find_package with a message that says what to install.

# Toolchain files name the foreign architecture whose packages are meant.
set(rondo_debian_suffix "")
if(RONDO_DEBIAN_ARCHITECTURE)
  set(rondo_debian_suffix ":${RONDO_DEBIAN_ARCHITECTURE}")
endif()

macro(rondo_find_package name debian_package)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    message(
      FATAL_ERROR
        "Rondo needs ${name}, which was not found. On Debian and Ubuntu: "
        "apt-get install ${debian_package}${rondo_debian_suffix}. Elsewhere: install it and add its prefix to "
        "CMAKE_PREFIX_PATH.")
  endif()
endmacro()

# Of what is optional.
function(rondo_say_what_is_missing name consequence debian_package)
  message(STATUS "Rondo: no ${name}, so ${consequence}. On Debian: apt-get install "
                 "${debian_package}${rondo_debian_suffix}.")
endfunction()

# A project that adds Rondo may already define these as targets.
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
  rondo_say_what_is_missing(libzip "save_npz and load_npz are refused" libzip-dev)
endif()

# Some ops are faster with these. Without them the library uses its own kernels.
set(RONDO_OPTIONAL_LIBRARIES "")
set(RONDO_OPTIONAL_DEFINITIONS "")
set(RONDO_OPTIONAL_INCLUDES "")
macro(rondo_find_optional option name debian_package consequence)
  set(${option}_FOUND FALSE)
  if(${option} STREQUAL "AUTO")
    find_package(${name} QUIET)
    set(${option}_FOUND ${${name}_FOUND})
    if(NOT ${option}_FOUND)
      rondo_say_what_is_missing(${name} "${consequence}" ${debian_package})
    endif()
  elseif(${option})
    rondo_find_package(${name} ${debian_package})
    set(${option}_FOUND TRUE)
  endif()
  if(${option}_FOUND)
    list(APPEND RONDO_OPTIONAL_DEFINITIONS ${option}=1)
  endif()
endmacro()

# The name that programs load a shared library by; empty where it is none, or lacks a symbol.
function(rondo_loadable_name result library symbol)
  set(${result} "" PARENT_SCOPE)
  if(NOT CMAKE_READELF OR NOT "${library}" MATCHES "^[^;]*\\.so(\\.[0-9.]+)?$")
    return()
  endif()
  execute_process(
    COMMAND "${CMAKE_READELF}" -d --dyn-syms -W "${library}"
    OUTPUT_VARIABLE dynamic
    ERROR_QUIET)
  if(dynamic MATCHES "[ @]${symbol}[@\n]" AND dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]]+)\\]")
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

rondo_find_optional(RONDO_WITH_OPENBLAS OpenBLAS libopenblas-dev "large products take longer")
# A shared OpenBLAS is loaded by its name with the first large product: as it is loaded it starts a
# thread for each core, and counts of handles cost more from then on.
set(RONDO_OPENBLAS_SONAME "")
if(RONDO_WITH_OPENBLAS_FOUND)
  list(APPEND RONDO_OPTIONAL_INCLUDES ${OpenBLAS_INCLUDE_DIRS})
  rondo_loadable_name(RONDO_OPENBLAS_SONAME "${OpenBLAS_LIBRARIES}" cblas_sgemm)
  if(NOT RONDO_OPENBLAS_SONAME)
    list(APPEND RONDO_OPTIONAL_LIBRARIES ${OpenBLAS_LIBRARIES})
  endif()
endif()
rondo_find_optional(RONDO_WITH_HIGHWAY hwy libhwy-dev "sorts take longer")
# So is a shared Highway with the first sort: as it is loaded it measures the clock, which takes
# longer than all else that a process does up to its first result.
set(RONDO_HIGHWAY_SONAME "")
if(RONDO_WITH_HIGHWAY_FOUND)
  get_target_property(rondo_highway_library hwy::hwy_contrib LOCATION)
  rondo_loadable_name(RONDO_HIGHWAY_SONAME "${rondo_highway_library}"
                      _ZNK3hwy6SorterclEPjmNS_13SortAscendingE)
  if(RONDO_HIGHWAY_SONAME)
    list(APPEND RONDO_OPTIONAL_INCLUDES
         $<TARGET_PROPERTY:hwy::hwy_contrib,INTERFACE_INCLUDE_DIRECTORIES>)
  else()
    list(APPEND RONDO_OPTIONAL_LIBRARIES hwy::hwy_contrib hwy::hwy)
  endif()
endif()

# Native code is written with Xbyak, an assembler in headers. Without it programs run as bytecode.
set(RONDO_WITH_XBYAK_FOUND FALSE)
if(RONDO_WITH_XBYAK AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  find_path(RONDO_XBYAK_INCLUDE_DIR xbyak/xbyak.h)
  if(RONDO_XBYAK_INCLUDE_DIR)
    set(RONDO_WITH_XBYAK_FOUND TRUE)
    list(APPEND RONDO_OPTIONAL_DEFINITIONS RONDO_HAVE_XBYAK)
    list(APPEND RONDO_OPTIONAL_INCLUDES "${RONDO_XBYAK_INCLUDE_DIR}")
  elseif(RONDO_WITH_XBYAK STREQUAL "AUTO")
    rondo_say_what_is_missing(Xbyak "programs run as bytecode" libxbyak-dev)
  endif()
endif()
if(RONDO_WITH_XBYAK
   AND NOT RONDO_WITH_XBYAK STREQUAL "AUTO"
   AND NOT RONDO_WITH_XBYAK_FOUND)
  message(FATAL_ERROR "RONDO_WITH_XBYAK is on, but there is no xbyak/xbyak.h for this processor. "
                      "On Debian and Ubuntu: apt-get install libxbyak-dev.")
endif()

# For 64-bit ARM with VIXL, a library that assembles and disassembles. Its headers ask how it was built:
# for which of its targets, and what its buffers are made of.
set(RONDO_WITH_VIXL_FOUND FALSE)
if(RONDO_WITH_VIXL AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  # Its headers include one another by names in that folder.
  find_path(RONDO_VIXL_INCLUDE_DIR aarch64/macro-assembler-aarch64.h PATH_SUFFIXES vixl)
  find_library(RONDO_VIXL_LIBRARY vixl)
  if(RONDO_VIXL_INCLUDE_DIR AND RONDO_VIXL_LIBRARY)
    set(RONDO_WITH_VIXL_FOUND TRUE)
    list(APPEND RONDO_OPTIONAL_DEFINITIONS RONDO_HAVE_VIXL VIXL_INCLUDE_TARGET_A64 VIXL_CODE_BUFFER_MMAP)
    # By its name: what is installed must not hold a path of the machine that built it.
    list(APPEND RONDO_OPTIONAL_LIBRARIES vixl)
    get_filename_component(rondo_vixl_dir "${RONDO_VIXL_LIBRARY}" DIRECTORY)
    if(NOT rondo_vixl_dir IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
      link_directories("${rondo_vixl_dir}")
    endif()
  elseif(RONDO_WITH_VIXL STREQUAL "AUTO")
    rondo_say_what_is_missing(VIXL "programs run as bytecode" libvixl-dev)
  endif()
endif()
if(RONDO_WITH_VIXL
   AND NOT RONDO_WITH_VIXL STREQUAL "AUTO"
   AND NOT RONDO_WITH_VIXL_FOUND)
  message(FATAL_ERROR "RONDO_WITH_VIXL is on, but there is no aarch64/macro-assembler-aarch64.h of it for this "
                      "processor. On Debian and Ubuntu: apt-get install libvixl-dev${rondo_debian_suffix}.")
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
