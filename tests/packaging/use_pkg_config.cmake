# Compiles and runs SOURCE with what pkg-config says about the installed Rondo.

cmake_minimum_required(VERSION 3.22)

set(ENV{PKG_CONFIG_PATH} "${PC_DIR}")
execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs rondo OUTPUT_VARIABLE flags
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_STRIP_TRAILING_WHITESPACE)
separate_arguments(flags UNIX_COMMAND "${flags}")
if(SANITIZE)
  list(APPEND flags "-fsanitize=${SANITIZE}")
endif()
execute_process(COMMAND "${COMPILER}" -std=c++20 "${SOURCE}" -o "${PROGRAM}" ${flags}
                COMMAND_ERROR_IS_FATAL ANY)
# Needed where the library is shared: pkg-config says where to link, not where to look at run time.
cmake_path(GET PC_DIR PARENT_PATH library_dir)
set(ENV{LD_LIBRARY_PATH} "${library_dir}")
execute_process(COMMAND "${PROGRAM}" COMMAND_ERROR_IS_FATAL ANY)
