# Copies FILES (paths below SOURCE_DIR) to OUTPUT_DIR and turns `#include "ir/node.h"`, which is
# relative to SOURCE_DIR, into a path relative to the including file.
# Usage: cmake -DSOURCE_DIR=... -DOUTPUT_DIR=... -DFILES=a;b -P relative_includes.cmake

cmake_minimum_required(VERSION 3.22)

# Files that left src/ must not linger in the copy.
file(GLOB_RECURSE old_files RELATIVE "${OUTPUT_DIR}" "${OUTPUT_DIR}/*")
foreach(old_file IN LISTS old_files)
  if(NOT old_file IN_LIST FILES)
    file(REMOVE "${OUTPUT_DIR}/${old_file}")
  endif()
endforeach()

file(GLOB rooms RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/*")
list(JOIN rooms "|" room_pattern)

foreach(name IN LISTS FILES)
  file(READ "${SOURCE_DIR}/${name}" content)
  get_filename_component(folder "${name}" DIRECTORY)
  string(REGEX REPLACE "[^/]+" ".." up "${folder}")
  string(REGEX REPLACE "#include \"((${room_pattern})/[^\"\n]+)\"" "#include \"${up}/\\1\""
                       content "${content}")
  file(WRITE "${OUTPUT_DIR}/${name}" "${content}")
endforeach()
