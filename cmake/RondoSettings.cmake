# Settings of Rondo's own targets. Nothing here may change the targets of a project that adds Rondo
# as a subdirectory, except what is guarded by PROJECT_IS_TOP_LEVEL.

if(PROJECT_IS_TOP_LEVEL)
  get_property(rondo_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT rondo_multi_config AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()

  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

  # The flags reach everything in the build, as a sanitizer has to.
  if(RONDO_SANITIZE)
    add_compile_options(-fsanitize=${RONDO_SANITIZE} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    # The address sanitizer sees these accesses as well; the check takes an eighth of compiling.
    if(RONDO_SANITIZE MATCHES "address.*undefined")
      add_compile_options(-fno-sanitize=object-size)
    endif()
    add_link_options(-fsanitize=${RONDO_SANITIZE})
  endif()
endif()

# Some two hundred programs are linked with the library: in a third of the time. The compiler is
# asked: Debian's cross compilers look for their linkers by other names, and do not find this one.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_EXE_LINKER_FLAGS MATCHES "-fuse-ld=")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld RONDO_LLD)
  if(RONDO_LLD AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# ccache only believes a precompiled header when it is told which differences do not matter; without
# these settings every file that uses one is compiled again.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(RONDO_CCACHE ccache)
endif()
if(PROJECT_IS_TOP_LEVEL AND (RONDO_CCACHE OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$"))
  set(rondo_ccache "${CMAKE_CXX_COMPILER_LAUNCHER}")
  if(NOT rondo_ccache)
    set(rondo_ccache "${RONDO_CCACHE}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime"
      "${rondo_ccache}")
endif()

# Language level, warnings and visibility of one of our targets.
function(rondo_configure_target target)
  set_target_properties(
    ${target}
    PROPERTIES CXX_STANDARD 20
               CXX_STANDARD_REQUIRED ON
               CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON)
  # A project that adds Rondo waits for its build and not for its warnings: they take 4 % of the time.
  if(PROJECT_IS_TOP_LEVEL OR RONDO_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # From -O2 on, g++ 12 and 13 warn of impossible sizes inside std::string's own operators: GCC
    # PR 105651 (-Wrestrict) and PR 105329 (-Wstringop-overflow, -Warray-bounds). clang++ and the
    # address sanitizer look for what these warnings are about.
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds)
    # As it comes, g++ spends a tenth of its time on collecting its garbage, for a fifth of its memory.
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-expand=200"
                                             "SHELL:--param ggc-min-heapsize=2000000")
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
      # Each call that passes a structure of one double would be noted: GCC 10.1 has mended how it does.
      target_compile_options(${target} PRIVATE -Wno-psabi)
    endif()
  endif()
  if(RONDO_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND RONDO_PRECOMPILED_HEADERS)
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # lets ccache see what the PCH hides
  endif()
endfunction()
