# Stops with one sentence where the compiler cannot compile flow; flow/base/compiler_options.h asks the same.

set(supported "Millrace needs clang 17 or newer, or gcc 12 or newer")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(oldest 17)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(oldest 12)
else()
    message(FATAL_ERROR "${supported}; CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER_ID}")
endif()
if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest)
    message(FATAL_ERROR "${supported}; CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()
