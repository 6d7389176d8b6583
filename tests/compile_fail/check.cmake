# Usage: cmake -DCOMPILERS=g++;clang++ -DSOURCE=case.cc -DINCLUDE_DIRS=a;b -DPRECOMPILED_DIR=dir
#              -P check.cmake
#
# `// EXPECT: regex` lines say what each compiler must say, with at most five lines before it; what
# follows a finding is not read. `// SOMEWHERE: regex` lines say what it must say wherever it is, in
# place of those: an error in a user's own lambda comes after what led to it. `// REFUSE: regex`
# lines say what it must not say at all.

cmake_minimum_required(VERSION 3.22)

include("${CMAKE_CURRENT_LIST_DIR}/arguments.cmake")

# With the precompiled header, where the case includes that.
file(STRINGS "${SOURCE}" whole_header REGEX "^#include <rondo/rondo[.]h>")
macro(compile number)
  list(GET COMPILERS ${number} compiler)
  set(precompiled "")
  if(whole_header AND EXISTS "${PRECOMPILED_DIR}/${number}/rondo.pch")
    set(precompiled -include-pch "${PRECOMPILED_DIR}/${number}/rondo.pch")
  elseif(whole_header AND EXISTS "${PRECOMPILED_DIR}/${number}/rondo/rondo.h.gch")
    set(precompiled "-I${PRECOMPILED_DIR}/${number}")
  endif()
  execute_process(COMMAND "${compiler}" ${precompiled} ${arguments} -fsyntax-only ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # g++ does not say then where the header was included: a line that counts all the same.
  string(REGEX REPLACE "^(In file included from [^\n]*):\n" "\\1,\n                 from ${SOURCE}:\n"
                       output "${output}")
endmacro()

file(STRINGS "${SOURCE}" expectations REGEX "^// EXPECT: ")
file(STRINGS "${SOURCE}" findings REGEX "^// SOMEWHERE: ")
list(LENGTH expectations expectation_count)
if(findings)
  set(expectation_count 1)
endif()
if(expectation_count EQUAL 0)
  message(FATAL_ERROR "${SOURCE} has no `// EXPECT: regex` line")
endif()

file(STRINGS "${SOURCE}" refusals REGEX "^// REFUSE: ")
# What clang says of a class that fails an assertion, where its member is used.
list(APPEND refusals "// REFUSE: incomplete definition of type .rondo")

compile(0 -DCONTROL "${SOURCE}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The control part of ${SOURCE} must compile. ${compiler} says:\n${output}")
endif()

list(LENGTH COMPILERS compiler_count)
math(EXPR last "${compiler_count} - 1")
foreach(number RANGE ${last})
  compile(${number} "${SOURCE}")
  if(status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles with ${compiler}, and it must not.")
  endif()
  if(NOT status EQUAL 1)
    message(FATAL_ERROR "${compiler} did not fail in the ordinary way (${status}):\n${output}")
  endif()
  string(REGEX MATCH "^([^\n]*\n?[^\n]*\n?[^\n]*\n?[^\n]*\n?[^\n]*\n?[^\n]*)" first_lines
               "${output}")
  foreach(line IN LISTS expectations)
    string(REGEX REPLACE "^// EXPECT: " "" expectation "${line}")
    if(NOT first_lines MATCHES "${expectation}")
      message(FATAL_ERROR "${SOURCE} fails to compile, but ${compiler} does not say "
                          "\"${expectation}\" in its first six lines. It says:\n${output}")
    endif()
  endforeach()
  foreach(line IN LISTS findings)
    string(REGEX REPLACE "^// SOMEWHERE: " "" finding "${line}")
    if(NOT output MATCHES "${finding}")
      message(FATAL_ERROR "${SOURCE} fails to compile, but ${compiler} does not say "
                          "\"${finding}\". It says:\n${output}")
    endif()
  endforeach()
  foreach(line IN LISTS refusals)
    string(REGEX REPLACE "^// REFUSE: " "" refusal "${line}")
    if(output MATCHES "${refusal}")
      message(FATAL_ERROR "${SOURCE} fails to compile, but ${compiler} goes on to say "
                          "\"${refusal}\":\n${output}")
    endif()
  endforeach()
endforeach()
