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
