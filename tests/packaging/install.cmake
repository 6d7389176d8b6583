# Installs the build in BINARY_DIR to an empty PREFIX, and checks that the package stays in its own
# folders and needs neither the sources nor the build.

cmake_minimum_required(VERSION 3.22)

file(REMOVE_RECURSE "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BINARY_DIR}" --prefix "${PREFIX}"
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)

file(GLOB_RECURSE installed RELATIVE "${PREFIX}" "${PREFIX}/*")
set(own_folders "^bin/rondo$|^share/(doc/(librondo-dev|rondo)/copyright|man/man1/rondo[.]1|bash-completion/completions/rondo|zsh/site-functions/_rondo|rondo/rondo(-gdb[.]py|[.]natvis)|rondo/hosts/[^/]*[.]py|gdb/auto-load/.*/librondo[.][^/]*-gdb[.]py)$|^lib.*/(librondo(_core|_compiler|_pjrt)?[.][^/]*|cmake/rondo/[^/]*|pkgconfig/rondo(_core)?[.]pc)$|^include/rondo/")
foreach(name IN LISTS installed)
  if(NOT name MATCHES "${own_folders}")
    message(FATAL_ERROR "The package installs ${name}, outside its own folders")
  endif()
  if(name MATCHES "[.](cmake|pc|h|inc|cc)$")
    file(READ "${PREFIX}/${name}" text)
    foreach(path IN ITEMS "${SOURCE_DIR}/include" "${SOURCE_DIR}/src" "${BINARY_DIR}/generated")
      string(FIND "${text}" "${path}" place)
      if(NOT place EQUAL -1)
        message(FATAL_ERROR "${name} needs ${path}, which its user does not have")
      endif()
    endforeach()
  endif()
endforeach()
