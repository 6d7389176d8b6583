# Makes Debian packages of the build in BINARY_DIR, installs them in a new tree TREE that has a compiler
# and CMake beside the smallest Debian, and there builds and runs the outside project PROJECT_DIR and the
# command. The tree is of the release that runs the test, because the packages name its libraries. Where
# no tree can be made, for want of a mirror or of rights, the test is skipped.

cmake_minimum_required(VERSION 3.22)

set(packages "${BINARY_DIR}/packages")
file(REMOVE_RECURSE "${packages}" "${TREE}")
execute_process(COMMAND "${CPACK}" -G DEB -B "${packages}" WORKING_DIRECTORY "${BINARY_DIR}"
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(GLOB debs "${packages}/*.deb")
list(LENGTH debs count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "cpack made ${count} packages in place of librondo-dev and rondo: ${debs}")
endif()

cmake_host_system_information(RESULT release QUERY DISTRIB_VERSION_CODENAME)
execute_process(
  COMMAND
    "${MMDEBSTRAP}" --quiet --variant=apt --include=g++,cmake,make "--customize-hook=echo There is a tree"
    "--customize-hook=copy-in ${PROJECT_DIR} /srv"
    "--customize-hook=copy-in ${packages} /srv"
    "--customize-hook=chroot \"$1\" sh -c 'apt-get install -q -y --no-install-recommends /srv/packages/*.deb'"
    "--customize-hook=chroot \"$1\" cmake -S /srv/find_package -B /srv/build -DCMAKE_BUILD_TYPE=Release"
    "--customize-hook=chroot \"$1\" cmake --build /srv/build"
    "--customize-hook=chroot \"$1\" /srv/build/house" "--customize-hook=chroot \"$1\" /srv/build/sketch"
    "--customize-hook=chroot \"$1\" rondo --version" "${release}" "${TREE}"
  RESULT_VARIABLE failed
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
file(REMOVE_RECURSE "${TREE}")
if(failed AND NOT output MATCHES "There is a tree")
  message("SKIPPED: no tree of Debian can be made here:\n${output}")
elseif(failed)
  message(FATAL_ERROR "The packages cannot be used in a new Debian tree:\n${output}")
endif()
