# Installs the library, the headers, the sources for header-only use, the CMake package, a pkg-config
# file, and what debuggers read.

include(CMakePackageConfigHelpers)

# For packages (RondoPackages.cmake): all but the command is for development.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

set(rondo_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/rondo")

install(
  TARGETS ${rondo_libraries} rondo_header_only
  EXPORT rondo_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_BINARY_DIR}/generated/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.inc"
  PATTERN "*.cc")
install(
  EXPORT rondo_targets
  NAMESPACE rondo::
  FILE rondo-targets.cmake
  DESTINATION "${rondo_cmake_dir}")

install(FILES "${rondo_gdb_script}" "${PROJECT_SOURCE_DIR}/debug/rondo.natvis"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/rondo")
if(BUILD_SHARED_LIBS AND RONDO_GDB_PRINTERS)
  set(rondo_gdb_dir "${CMAKE_INSTALL_LIBDIR}")
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    set(rondo_gdb_dir "${CMAKE_INSTALL_DATADIR}/gdb/auto-load${CMAKE_INSTALL_FULL_LIBDIR}")
  endif()
  install(FILES "${rondo_gdb_script}" DESTINATION "${rondo_gdb_dir}"
          RENAME "$<TARGET_FILE_NAME:rondo>-gdb.py")
endif()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/rondo-config.cmake.in"
  "${PROJECT_BINARY_DIR}/rondo-config.cmake" INSTALL_DESTINATION "${rondo_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rondo-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/rondo-config.cmake"
              "${PROJECT_BINARY_DIR}/rondo-config-version.cmake"
        DESTINATION "${rondo_cmake_dir}")

# pkg-config knows Abseil by one name per library: absl::span is absl_span.
set(rondo_pc_requires ${RONDO_ABSL_TARGETS})
list(TRANSFORM rondo_pc_requires REPLACE "^absl::" "absl_")
list(APPEND rondo_pc_requires fmt)
if(RONDO_WITH_OPENBLAS_FOUND AND NOT RONDO_OPENBLAS_SONAME)
  list(APPEND rondo_pc_requires openblas)
endif()
if(RONDO_WITH_HIGHWAY_FOUND AND NOT RONDO_HIGHWAY_SONAME)
  list(APPEND rondo_pc_requires libhwy-contrib)
endif()
if(RONDO_WITH_VIXL_FOUND)
  list(APPEND rondo_pc_requires vixl)
endif()
if(RONDO_ZIP_DEFINITIONS)
  list(APPEND rondo_pc_requires libzip)
endif()
list(JOIN rondo_pc_requires ", " rondo_pc_requires)
set(rondo_pc_private "")
set(rondo_pc_public "")
set(rondo_pc_cflags "")
if(rondo_type STREQUAL "SHARED_LIBRARY")
  set(rondo_pc_private "${rondo_pc_requires}")
  set(rondo_pc_cflags " -DRONDO_SHARED")
else()
  # A static library does not include its dependencies, so every user has to link them.
  set(rondo_pc_public "${rondo_pc_requires}")
endif()
# Where the folders are relative, the file finds its own place, so that the prefix can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(rondo_pc_prefix "${CMAKE_INSTALL_PREFIX}")
  set(rondo_pc_libdir "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(rondo_pc_includedir "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
else()
  string(REGEX REPLACE "[^/]+" ".." rondo_pc_up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
  set(rondo_pc_prefix "\${pcfiledir}/${rondo_pc_up}")
  set(rondo_pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(rondo_pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(rondo_pc_libs_of_rondo "-lrondo")
set(rondo_pc_libs_of_rondo_core "-lrondo")
if(NOT BUILD_SHARED_LIBS)
  set(rondo_pc_libs_of_rondo_core "-Wl,--gc-sections -lrondo_core")
  set(rondo_pc_libs_of_rondo
      "-Wl,-u,rondo_compiler -lrondo_pjrt -lrondo_compiler ${rondo_pc_libs_of_rondo_core}")
endif()
foreach(package IN ITEMS rondo rondo_core)
  set(rondo_pc_name "${package}")
  set(rondo_pc_libs "${rondo_pc_libs_of_${package}}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/rondo.pc.in" "${PROJECT_BINARY_DIR}/${package}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${package}.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()
