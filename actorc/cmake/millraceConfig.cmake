# find_package(millrace): the targets millrace::flow, millrace::compat and millrace::test_main, and add_actor_sources().

include(CMakeFindDependencyMacro)
find_package(Boost QUIET OPTIONAL_COMPONENTS context fiber) # for millrace::fiber and millrace::boost_fiber
include("${CMAKE_CURRENT_LIST_DIR}/millraceTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../../../share/millrace/actorc/cmake/ActorC.cmake")
