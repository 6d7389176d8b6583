# Debian packages of a static build, by `cpack -G DEB` in the build folder: librondo-dev, the library, and
# rondo, the command.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rondo)
set(CPACK_PACKAGE_VENDOR "The Rondo authors")
set(CPACK_PACKAGE_CONTACT "The Rondo authors")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL development)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
install(
  FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/librondo-dev"
  RENAME copyright
  COMPONENT development)

# What an installed library needs to be linked; what it loads at run time is only recommended.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librondo-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libabsl-dev, libfmt-dev")
if(RONDO_WITH_VIXL_FOUND)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libvixl-dev")
endif()
if(RONDO_ZIP_DEFINITIONS)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libzip-dev")
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "")
foreach(library IN ITEMS "OPENBLAS|libopenblas0|libopenblas-dev" "HIGHWAY|libhwy1|libhwy-dev")
  string(REPLACE "|" ";" library "${library}")
  list(GET library 0 name)
  list(GET library 1 runtime)
  list(GET library 2 development)
  if(NOT RONDO_WITH_${name}_FOUND)
    continue()
  endif()
  list(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS ${runtime})
  if(NOT RONDO_${name}_SONAME)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${development}")
  endif()
endforeach()
list(JOIN CPACK_DEBIAN_PACKAGE_RECOMMENDS ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "A C++20 library for numerical programs with loops: it traces lambdas, differentiates and batches\n"
    "them, prints them as HLO and StableHLO, and compiles them. This package has its headers and static\n"
    "libraries, for CMake and pkg-config.")
list(JOIN CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "" CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION)

if(TARGET rondo_program)
  list(APPEND CPACK_COMPONENTS_ALL command)
  install(
    FILES "${PROJECT_SOURCE_DIR}/LICENSE"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/rondo"
    RENAME copyright
    COMPONENT command)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME rondo)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "python3") # for `rondo hosts`, with jax from PyPI
  set(CPACK_COMPONENT_COMMAND_DESCRIPTION
      "The command `rondo` reads, runs, differentiates and draws programs in StableHLO, HLO and what\n"
      "jax.export writes, without XLA.")
  list(JOIN CPACK_COMPONENT_COMMAND_DESCRIPTION "" CPACK_COMPONENT_COMMAND_DESCRIPTION)
endif()
include(CPack)
