# What `cmake --install` puts under the prefix: libraries, headers, actorc, millrace, and what CMake and pkg-config read.
# The tree can be moved: nothing in it names the prefix.

include(CMakePackageConfigHelpers)

set(libraries flow net http flow_test_main flow_bench flow_sim_main)
foreach(optional IN ITEMS fiber boost_fiber parallel tls postgres)
    if(TARGET ${optional})
        list(APPEND libraries ${optional})
    endif()
endforeach()
set_target_properties(flow_test_main PROPERTIES EXPORT_NAME test_main)
set_target_properties(flow_bench PROPERTIES EXPORT_NAME bench)
set_target_properties(flow_sim_main PROPERTIES EXPORT_NAME sim_main)
set_target_properties(flow_compat PROPERTIES EXPORT_NAME compat)
# Names that no other library has.
foreach(library IN LISTS libraries)
    string(REGEX REPLACE "^flow_" "" name ${library})
    set_target_properties(${library} PROPERTIES OUTPUT_NAME millrace_${name})
endforeach()

# tools/bench builds less than an installation needs.
add_custom_target(millrace_libraries DEPENDS ${libraries})
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --target millrace_libraries
    COMMAND_ERROR_IS_FATAL ANY)")
install(TARGETS ${libraries} flow_compat EXPORT millrace ARCHIVE DESTINATION lib)
install(EXPORT millrace NAMESPACE millrace:: DESTINATION lib/cmake/millrace FILE millraceTargets.cmake)
set(millrace_compiler "${CMAKE_CXX_COMPILER_ID}")
set(millrace_compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
string(REGEX REPLACE "[.].*" "" millrace_compiler_major "${millrace_compiler_major}")
configure_file(actorc/cmake/millraceConfig.cmake.in millraceConfig.cmake @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/millraceConfig.cmake" "${PROJECT_BINARY_DIR}/millraceConfigVersion.cmake"
    DESTINATION lib/cmake/millrace)

# pkg-config finds the prefix by the place of this file.
set(millrace_compat_packages "")
if(fmt_FOUND)
    set(millrace_compat_packages ", fmt")
endif()
# A program must be compiled as the libraries are.
string(REPLACE ";" " " millrace_flags "${millrace_public_flags}")
set(millrace_definitions "")
if(MILLRACE_CHECKED)
    set(millrace_definitions " -DFLOW_CHECKED=1")
endif()
set(millrace_postgres_libraries pq)
if(OpenSSL_FOUND)
    list(APPEND millrace_postgres_libraries ssl)
endif()
millrace_as_needed(millrace_postgres_libraries ${millrace_postgres_libraries})
millrace_as_needed(millrace_fiber_libraries boost_context)
millrace_as_needed(millrace_tls_libraries ssl crypto)
# HTTP, with what it was built with.
set(millrace_http_packages "")
if(TARGET tls)
    set(millrace_http_packages ", millrace-tls")
endif()
set(packages millrace millrace-http millrace-compat millrace-test millrace-bench millrace-sim)
foreach(optional IN ITEMS fiber tls postgres)
    if(TARGET ${optional})
        list(APPEND packages millrace-${optional})
    endif()
endforeach()
foreach(package IN LISTS packages)
    configure_file(actorc/cmake/${package}.pc.in ${package}.pc @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${package}.pc" DESTINATION lib/pkgconfig)
endforeach()

# Programs include none of these headers of detail/ folders, and neither does what programs include: see
# tests/install/test_headers.py.
set(own_headers dropped_error seed frame_stack wait_graph actor_name program_call symbol stack_overflow all_loops graph
    holders profile_request signal_sampler step_profile run_turn block_walk chunk system_block thread_heap inject linearization
    crash_reporter options runner option_table bench_options bench_runner benchmark_clock describe_error ready_order message_state epoll_poller uring_buffers uring_poller ares_resolver
    real_connection real_datagrams real_listener uring_sockets datagrams host session
    foreign_exception accept_encoding client_connection conditions content_types dates file_cache gzip
    open_connection ranges response_head service websocket_frame websocket_key
    sentence file_call date open_file event_receiver connection_events console_answers console_request
    serve_aside service_notice otlp_json request_span syntax head body_io http2_client http2_server http2_session http2_stream
    libpq link certificate_text outer_poller blocking_call real_stream socket_file without_sigpipe trace_fields bursts)
list(JOIN own_headers "|" own_headers)
install(DIRECTORY flow net DESTINATION include/millrace FILES_MATCHING PATTERN "*.h" PATTERN "docs" EXCLUDE
    PATTERN "examples" EXCLUDE PATTERN "flow/precompiled.h" EXCLUDE REGEX "/detail/(${own_headers})[.]h$" EXCLUDE
    REGEX "/memory/detail/kept_exception[.]h$" EXCLUDE)
install(DIRECTORY actorc DESTINATION share/millrace
    FILES_MATCHING PATTERN "*.py" PATTERN "*.j2" PATTERN "flow_names.toml" PATTERN "driver.inl"
    PATTERN "explanations/*.md" PATTERN "ActorC.cmake" PATTERN "__pycache__" EXCLUDE PATTERN "*.egg-info" EXCLUDE PATTERN "docs" EXCLUDE)
install(DIRECTORY tools/millrace DESTINATION share/millrace
    PATTERN "__pycache__" EXCLUDE PATTERN "pyproject.toml" EXCLUDE PATTERN "auto_load.py" EXCLUDE)
install(PROGRAMS actorc/cmake/actorc actorc/cmake/millrace DESTINATION bin)
# gdb trusts /usr/share/gdb/auto-load: see flow/loop/detail/gdb_script.h. A package is made below some other folder.
install(CODE "if(CMAKE_INSTALL_PREFIX MATCHES \"(^|/)usr/?$\")
    file(INSTALL \"${PROJECT_SOURCE_DIR}/tools/millrace/debugger/auto_load.py\" RENAME millrace.py
        DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share/gdb/auto-load\")
endif()")
install(FILES LICENSE DESTINATION share/doc/libmillrace-dev RENAME copyright) # the name that Debian requires

# `cpack` makes a package for Debian.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libmillrace-dev)
set(CPACK_PACKAGE_CONTACT "The Millrace maintainers <maintainers@millrace.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3 (>= 3.11), liburing-dev, libc-ares-dev, libnghttp2-dev, libpq-dev, libsodium-dev, libssl-dev, libfmt-dev, libtbb-dev, zlib1g-dev")
if(TARGET Boost::fiber) # a release has several versions of Boost, and its libraries fit only the one that we compiled with
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libboost-fiber${Boost_VERSION_MAJOR}.${Boost_VERSION_MINOR}-dev")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3-rich, python3-jinja2, python3-plotly, python3-distributed") # of millrace
# A program must be compiled by the compiler of the libraries.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang-${millrace_compiler_major}")
else()
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++-${millrace_compiler_major}")
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
include(CPack)
