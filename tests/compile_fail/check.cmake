# Usage: cmake -DCOMPILERS=g++;clang++ -DSOURCE=case.cc -DINCLUDE_DIRS=a;b -P check.cmake
#
# `// EXPECT: regex` lines say what each compiler must say, with at most five lines before it; what
# follows a finding is not read. `// SOMEWHERE: regex` lines say what it must say wherever it is, in
# place of those: an error in a user's own lambda stands behind what led to it. `// REFUSE: regex`
# lines say what it must not say at all.

cmake_minimum_required(VERSION 3.22)

set(arguments -std=c++20 -fsyntax-only -Wall -Wextra)
foreach(dir IN LISTS INCLUDE_DIRS)
  list(APPEND arguments "-I${dir}")
endforeach()

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

list(GET COMPILERS 0 compiler)
execute_process(COMMAND "${compiler}" ${arguments} -DCONTROL "${SOURCE}" RESULT_VARIABLE status
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The control part of ${SOURCE} must compile. ${compiler} says:\n${output}")
endif()

foreach(compiler IN LISTS COMPILERS)
  execute_process(COMMAND "${compiler}" ${arguments} "${SOURCE}" RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
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
