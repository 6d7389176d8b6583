# What the compilers are given, for a case as for the precompiled header.
set(arguments -std=c++20 -Wall -Wextra)
foreach(dir IN LISTS INCLUDE_DIRS)
  list(APPEND arguments "-I${dir}")
endforeach()
