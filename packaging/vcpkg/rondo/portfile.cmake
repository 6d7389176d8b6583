# An overlay port, which builds the checkout that holds it. packaging/README.md says what a port of a
# registry has in place of the next line.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(
  OUT_FEATURE_OPTIONS
  FEATURE_OPTIONS
  FEATURES
  command
  RONDO_BUILD_COMMAND
  highway
  RONDO_WITH_HIGHWAY
  openblas
  RONDO_WITH_OPENBLAS
  xbyak
  RONDO_WITH_XBYAK)
# libzip has no option: it is used if it is found, unless these say that there is none.
if(NOT "libzip" IN_LIST FEATURES)
  list(APPEND FEATURE_OPTIONS -DRONDO_ZIP_INCLUDE_DIR=OFF -DRONDO_ZIP_LIBRARY=OFF)
endif()

vcpkg_cmake_configure(
  SOURCE_PATH
  "${SOURCE_PATH}"
  OPTIONS
  ${FEATURE_OPTIONS}
  -DRONDO_WITH_VIXL=OFF # vcpkg has no port of it
  -DRONDO_BUILD_TESTS=OFF
  -DRONDO_BUILD_BENCHMARKS=OFF
  -DRONDO_BUILD_EXAMPLES=OFF
  -DRONDO_UNITY_BUILD=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rondo)
vcpkg_fixup_pkgconfig()
if("command" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES rondo AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
