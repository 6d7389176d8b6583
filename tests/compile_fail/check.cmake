# Usage: cmake -DCOMPILER=c++ -DSOURCE=case.cc -DINCLUDE_DIRS=a;b -P check.cmake

cmake_minimum_required(VERSION 3.22)

set(command "${COMPILER}" -std=c++20 -fsyntax-only -Wall -Wextra)
foreach(dir IN LISTS INCLUDE_DIRS)
  list(APPEND command "-I${dir}")
endforeach()

file(STRINGS "${SOURCE}" expectations REGEX "^// EXPECT: ")
list(LENGTH expectations expectation_count)
if(expectation_count EQUAL 0)
  message(FATAL_ERROR "${SOURCE} has no `// EXPECT: regex` line")
endif()

execute_process(COMMAND ${command} -DCONTROL "${SOURCE}" RESULT_VARIABLE status
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The control part of ${SOURCE} must compile. The compiler says:\n${output}")
endif()

execute_process(COMMAND ${command} "${SOURCE}" RESULT_VARIABLE status OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, and it must not.")
endif()
if(NOT status EQUAL 1)
  message(FATAL_ERROR "The compiler did not fail in the ordinary way (${status}):\n${output}")
endif()
foreach(line IN LISTS expectations)
  string(REGEX REPLACE "^// EXPECT: " "" expectation "${line}")
  if(NOT output MATCHES "${expectation}")
    message(FATAL_ERROR "${SOURCE} fails to compile, but the compiler does not say "
                        "\"${expectation}\". It says:\n${output}")
  endif()
endforeach()
