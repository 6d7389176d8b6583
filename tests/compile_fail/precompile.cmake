# Usage: cmake -DCOMPILERS=g++;clang++ -DINCLUDE_DIRS=a;b -DOUTPUT_DIR=dir -P precompile.cmake
#
# Precompiles <rondo/rondo.h> for each compiler, which is most of what a case takes: to
# OUTPUT_DIR/<number>/rondo.pch for clang++, to OUTPUT_DIR/<number>/rondo/rondo.h.gch for g++.

cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/arguments.cmake")
list(GET INCLUDE_DIRS 0 header)
string(APPEND header "/rondo/rondo.h")
file(REMOVE_RECURSE "${OUTPUT_DIR}")
set(number 0)
foreach(compiler IN LISTS COMPILERS)
  execute_process(COMMAND "${compiler}" --version OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  set(output "${OUTPUT_DIR}/${number}/rondo/rondo.h.gch")
  if(version MATCHES "clang")
    set(output "${OUTPUT_DIR}/${number}/rondo.pch")
  endif()
  get_filename_component(folder "${output}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  # Not -w: what warnings there are is part of what is precompiled.
  execute_process(COMMAND "${compiler}" ${arguments} -x c++-header "${header}" -o "${output}"
                  ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  math(EXPR number "${number} + 1")
endforeach()
