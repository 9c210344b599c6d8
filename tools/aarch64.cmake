# For CMake: compiles for aarch64 on another machine, with what `tools/cross` installs, and runs programs under qemu.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
if(NOT CMAKE_CXX_COMPILER)
    set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
elseif(CMAKE_CXX_COMPILER MATCHES "clang")
    set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
    set(linker "-fuse-ld=lld")
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
# Libraries for this processor, unpacked there by tools/cross.
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-libraries" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# For what is linked by name, and so that programs find it under qemu.
set(unpacked_libraries "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-libraries/usr/lib/aarch64-linux-gnu")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${linker} -L${unpacked_libraries}")
set(CMAKE_BUILD_RPATH "${unpacked_libraries}")
