# Outside projects that use Rondo in each of the ways it can be used: installed, by FetchContent,
# header-only, and by pkg-config without CMake.

set(packaging_prefix "${PROJECT_BINARY_DIR}/packaging/prefix")
set(packaging_script "${CMAKE_CURRENT_LIST_DIR}/use.cmake")

if(RONDO_INSTALL)
  add_test(NAME package.install
           COMMAND "${CMAKE_COMMAND}" "-DBINARY_DIR=${PROJECT_BINARY_DIR}"
                   "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DPREFIX=${packaging_prefix}" -P
                   "${CMAKE_CURRENT_LIST_DIR}/install.cmake")
  set_tests_properties(package.install PROPERTIES FIXTURES_SETUP rondo_installed LABELS package
                                                  TIMEOUT 300)
endif()

#   rondo_add_packaging_test(FOLDER PROGRAM... [SIZE_LIMIT BYTES] [GIT PATH])
# With a limit, the last program is linked without symbols, and an optimised one is no larger. With
# git, the project gets the address of a repository.
function(rondo_add_packaging_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SIZE_LIMIT;GIT" "")
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR BUILD_SHARED_LIBS OR RONDO_SANITIZE)
    set(arg_SIZE_LIMIT "")
  endif()
  list(JOIN arg_UNPARSED_ARGUMENTS "," programs)
  add_test(
    NAME package.${name}
    COMMAND
      "${CMAKE_COMMAND}" "-DPROJECT_DIR=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${name}"
      "-DWORK_DIR=${PROJECT_BINARY_DIR}/packaging/${name}" "-DPROGRAMS=${programs}"
      "-DGENERATOR=${CMAKE_GENERATOR}" "-DCOMPILER=${CMAKE_CXX_COMPILER}"
      "-DFLAGS=${CMAKE_CXX_FLAGS}" "-DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
      "-DPREFIX=${packaging_prefix}" "-DRONDO_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
      "-DSANITIZE=${RONDO_SANITIZE}" "-DSIZE_LIMIT=${arg_SIZE_LIMIT}"
      "-DGIT=${arg_GIT}" -P "${packaging_script}")
  # What takes minutes begins first (COST): one core would wait for it at the end.
  set_tests_properties(package.${name} PROPERTIES LABELS package TIMEOUT 1200 COST 1000)
endfunction()

find_package(Git QUIET)
rondo_add_packaging_test(fetch_content counting GIT "${GIT_EXECUTABLE}")
# This one compiles the library in several units; the others have one large file each.
set_tests_properties(package.fetch_content PROPERTIES PROCESSORS 2)
# CPM.cmake is one file, which is not ours to copy: -DRONDO_CPM=FILE says where it is.
set(RONDO_CPM "" CACHE FILEPATH "CPM.cmake, for the test of a project that uses it")
if(RONDO_CPM)
  add_test(
    NAME package.cpm
    COMMAND
      "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/cpm" -B
      "${PROJECT_BINARY_DIR}/packaging/cpm" -G "${CMAKE_GENERATOR}"
      "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" "-DCPM=${RONDO_CPM}"
      "-DCPM_rondo_SOURCE=${PROJECT_SOURCE_DIR}")
  set_tests_properties(package.cpm PROPERTIES LABELS package TIMEOUT 120)
endif()
if(RONDO_INSTALL)
  rondo_add_packaging_test(find_package house sketch SIZE_LIMIT 4200000)
  rondo_add_packaging_test(header_only growth)
  set_tests_properties(package.find_package package.header_only
                       PROPERTIES FIXTURES_REQUIRED rondo_installed)
endif()

find_program(RONDO_PKG_CONFIG pkg-config)
if(RONDO_INSTALL AND RONDO_PKG_CONFIG)
  add_test(
    NAME package.pkg_config
    COMMAND
      "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_CURRENT_LIST_DIR}/find_package/main.cc"
      "-DPROGRAM=${PROJECT_BINARY_DIR}/packaging/pkg_config_house" "-DPKG_CONFIG=${RONDO_PKG_CONFIG}"
      "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DSANITIZE=${RONDO_SANITIZE}"
      "-DPC_DIR=${packaging_prefix}/${CMAKE_INSTALL_LIBDIR}/pkgconfig" -P
      "${CMAKE_CURRENT_LIST_DIR}/use_pkg_config.cmake")
  set_tests_properties(package.pkg_config PROPERTIES LABELS package TIMEOUT 300 FIXTURES_REQUIRED
                                                     rondo_installed)
endif()

find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_test(NAME package.metadata
           COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/metadata_test.py"
                   "${PROJECT_SOURCE_DIR}")
  set_tests_properties(package.metadata PROPERTIES LABELS package TIMEOUT 60)
endif()

# What was found here can be on.
set(packaging_features "")
foreach(feature IN ITEMS highway openblas xbyak)
  string(TOUPPER "RONDO_WITH_${feature}_FOUND" packaging_found)
  if(${packaging_found})
    list(APPEND packaging_features ${feature})
  endif()
endforeach()
if(RONDO_ZIP_DEFINITIONS)
  list(APPEND packaging_features libzip)
endif()
if(NOT RONDO_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(
    NAME package.vcpkg
    COMMAND
      "${CMAKE_COMMAND}" "-DPORT_DIR=${PROJECT_SOURCE_DIR}/packaging/vcpkg/rondo"
      "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DWORK_DIR=${PROJECT_BINARY_DIR}/packaging/vcpkg"
      "-DFEATURES=${packaging_features}" "-DGENERATOR=${CMAKE_GENERATOR}"
      "-DCOMPILER=${CMAKE_CXX_COMPILER}" -P "${CMAKE_CURRENT_LIST_DIR}/vcpkg.cmake")
  set_tests_properties(package.vcpkg PROPERTIES LABELS package TIMEOUT 120)
endif()

# Debian packages on a tree of Debian that has nothing else: needs root, mmdebstrap and a mirror.
find_program(RONDO_MMDEBSTRAP mmdebstrap)
if(TARGET rondo_program
   AND RONDO_INSTALL
   AND RONDO_MMDEBSTRAP
   AND CMAKE_BUILD_TYPE STREQUAL "Release"
   AND NOT BUILD_SHARED_LIBS)
  add_test(
    NAME package.debian
    COMMAND
      "${CMAKE_COMMAND}" "-DBINARY_DIR=${PROJECT_BINARY_DIR}" "-DCPACK=${CMAKE_CPACK_COMMAND}"
      "-DMMDEBSTRAP=${RONDO_MMDEBSTRAP}" "-DPROJECT_DIR=${CMAKE_CURRENT_LIST_DIR}/find_package"
      "-DTREE=${PROJECT_BINARY_DIR}/packaging/debian" -P "${CMAKE_CURRENT_LIST_DIR}/debian.cmake")
  set_tests_properties(package.debian PROPERTIES LABELS package TIMEOUT 900 SKIP_REGULAR_EXPRESSION
                                                                            "SKIPPED: ")
endif()

# The site of the documentation, whose build fails for a link that leads nowhere. It is written to
# build/site of the project.
find_program(RONDO_DOXYGEN doxygen)
if(NOT RONDO_DOXYGEN)
  message(STATUS "Rondo: Doxygen is not installed, so the test of scripts/docs is left out.")
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT BUILD_SHARED_LIBS)
  add_test(NAME package.site COMMAND "${PROJECT_SOURCE_DIR}/scripts/docs")
  set_tests_properties(package.site PROPERTIES LABELS package TIMEOUT 600 SKIP_REGULAR_EXPRESSION
                                                                          "SKIPPED: ")
endif()
