# Toolchain file: a build for 64-bit ARM on another machine with Linux, by Debian's cross compiler and
# the libraries of the foreign architecture arm64 (scripts/packages aarch64). docs/targets.md has the
# steps. Tests run in an emulator of the processor, not of a machine.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# find_package, find_library: of /usr/lib and /usr/include, the folders of this architecture.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Names of Debian's packages in messages.
set(RONDO_DEBIAN_ARCHITECTURE arm64)
