# add_actor_sources(<target> [BACKEND state-machine|coroutine] [DEFINITIONS <def>...] [OPTIONS <option>...]
#                   FILES <x.actor.cpp>...)
#
# Compiles actor sources with actorc and adds what it writes to <target>, which must belong to the current directory.
# The target is linked with millrace::flow. A file may be added once for each backend; DEFINITIONS then distinguishes
# the two, because they apply to these generated files only. The default backend is state-machine. OPTIONS are actorc's,
# such as --disable-diagnostics.
#
# An x.actor.h in FILES becomes x.actor.g.h, which the files of the target and of whatever links it can include: by the
# path from any directory above the header, as in "storage/x.actor.g.h", or by its bare name. They are compiled with
# NO_INTELLISENSE, which makes the header include the generated one. The header needs millrace::flow
# wherever it is included, so that the target then links it PUBLIC.
#
# compile_commands.json has entries for the sources themselves, so that editors show them as they are written: they
# belong to a library <target>-editor, which nothing builds.
#
# MILLRACE_PYTHON chooses the Python that runs actorc: 3.11 or newer.

include_guard(GLOBAL)

set(MILLRACE_PYTHON "" CACHE FILEPATH "The Python that runs actorc; empty: the .venv of tools/setup, or the system's")

# Looks once in a configure run, and only if there is an actor to compile: plain C++ users need no Python.
function(millrace_find_python result)
    get_property(python GLOBAL PROPERTY MILLRACE_FOUND_PYTHON)
    if(NOT python)
        cmake_path(SET venv NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../.venv/bin/python")
        if(MILLRACE_PYTHON)
            set(python "${MILLRACE_PYTHON}")
        elseif(EXISTS "${venv}")
            set(python "${venv}")
        else()
            find_package(Python3 3.11 COMPONENTS Interpreter QUIET)
            set(python "${Python3_EXECUTABLE}")
        endif()
        execute_process(COMMAND "${python}" -c "import sys; sys.exit(sys.version_info < (3, 11))"
            RESULT_VARIABLE failure OUTPUT_QUIET ERROR_QUIET)
        if(NOT failure STREQUAL "0")
            message(FATAL_ERROR "actorc needs Python 3.11, and '${python}' is not that. "
                "Run Millrace's tools/setup, or set MILLRACE_PYTHON.")
        endif()
        set_property(GLOBAL PROPERTY MILLRACE_FOUND_PYTHON "${python}")
    endif()
    set(${result} "${python}" PARENT_SCOPE)
endfunction()

function(add_actor_sources target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "BACKEND" "DEFINITIONS;OPTIONS;FILES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_FILES)
        message(FATAL_ERROR "add_actor_sources(<target> [BACKEND <backend>] [DEFINITIONS <def>...] "
            "[OPTIONS <option>...] FILES <file>...)")
    endif()
    if(NOT arg_BACKEND)
        set(arg_BACKEND state-machine)
    endif()
    if(NOT arg_BACKEND MATCHES "^(state-machine|coroutine)$")
        message(FATAL_ERROR "add_actor_sources: BACKEND is state-machine or coroutine, not '${arg_BACKEND}'")
    endif()
    get_target_property(target_dir ${target} SOURCE_DIR)
    if(NOT target_dir STREQUAL CMAKE_CURRENT_SOURCE_DIR)
        # The rule that makes a file and the target that compiles it must be in one directory.
        message(FATAL_ERROR "add_actor_sources: call it in ${target_dir}, where target '${target}' is made")
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
        message(FATAL_ERROR "add_actor_sources: '${target}' is an INTERFACE library, which cannot make files: "
            "use a STATIC library")
    endif()

    millrace_find_python(python)
    cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH package_root)
    file(GLOB_RECURSE compiler CONFIGURE_DEPENDS "${package_root}/actorc/*.py")
    set(out_root "${CMAKE_CURRENT_BINARY_DIR}/${target}.actors/${arg_BACKEND}")

    foreach(file IN LISTS arg_FILES)
        cmake_path(ABSOLUTE_PATH file NORMALIZE OUTPUT_VARIABLE input)
        if(NOT EXISTS "${input}")
            message(FATAL_ERROR "add_actor_sources: no such file: ${input}")
        elseif(NOT input MATCHES "\\.actor\\.(cpp|h)$")
            message(FATAL_ERROR "add_actor_sources: not named x.actor.cpp or x.actor.h: ${input}")
        endif()
        cmake_path(GET input PARENT_PATH input_dir)
        cmake_path(RELATIVE_PATH input BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE output)
        string(REPLACE "../" "up/" output "${output}") # the output stays inside out_root
        string(REGEX REPLACE "\\.actor\\.(cpp|h)$" ".actor.g.\\1" output "${out_root}/${output}")
        cmake_path(GET output PARENT_PATH output_dir)
        file(MAKE_DIRECTORY "${output_dir}")
        add_custom_command(
            OUTPUT "${output}"
            BYPRODUCTS "${output}.uid"
            # -S: actorc needs nothing from site-packages, and looking there takes as long as 500 lines.
            COMMAND "${python}" -S "${package_root}" --backend ${arg_BACKEND} ${arg_OPTIONS} "${input}" "${output}"
                --depfile "${output}.d"
            DEPENDS "${input}" ${compiler}
            DEPFILE "${output}.d"
            COMMENT "actorc --backend ${arg_BACKEND} ${file}"
            VERBATIM)
        target_sources(${target} PRIVATE "${output}")
        if(output MATCHES "h$")
            millrace_publish_header(${target} "${out_root}" "${output_dir}" "${input_dir}")
        else()
            # -iquote, so that a file of the user's named time.h does not hide the system's.
            set_property(SOURCE "${output}" APPEND PROPERTY COMPILE_OPTIONS "-iquote${input_dir}")
            set_property(SOURCE "${output}" APPEND PROPERTY COMPILE_DEFINITIONS NO_INTELLISENSE ${arg_DEFINITIONS})
            millrace_show_to_editors(${target} "${input}" ${arg_DEFINITIONS})
        endif()
    endforeach()
    target_link_libraries(${target} PRIVATE millrace::flow)
endfunction()

# Makes a generated header visible to all targets that include its source. Its text still includes files beside the
# source.
function(millrace_publish_header target out_root output_dir input_dir)
    target_compile_definitions(${target} PUBLIC NO_INTELLISENSE)
    target_compile_options(${target} PUBLIC "$<BUILD_INTERFACE:-iquote${input_dir}>")
    set(dir "${output_dir}")
    while(TRUE)
        target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${dir}>")
        if(dir STREQUAL out_root)
            break()
        endif()
        cmake_path(GET dir PARENT_PATH dir)
    endwhile()
    target_link_libraries(${target} PUBLIC millrace::flow)
endfunction()

# Gives the source, with the flags of the target, an entry in compile_commands.json.
function(millrace_show_to_editors target input)
    set(editor "${target}-editor")
    if(NOT TARGET ${editor})
        add_library(${editor} OBJECT EXCLUDE_FROM_ALL)
        foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES INCLUDE_DIRECTORIES)
            set_property(TARGET ${editor} PROPERTY ${property} "$<TARGET_PROPERTY:${target},${property}>")
        endforeach()
        # What the target asks for is for the generated file. A compiler reads -U after all -D.
        set_property(TARGET ${editor} APPEND PROPERTY COMPILE_OPTIONS -UNO_INTELLISENSE)
        foreach(property CXX_STANDARD CXX_STANDARD_REQUIRED CXX_EXTENSIONS)
            get_target_property(value ${target} ${property})
            if(NOT value MATCHES "-NOTFOUND$")
                set_property(TARGET ${editor} PROPERTY ${property} "${value}")
            endif()
        endforeach()
        set_target_properties(${editor} PROPERTIES UNITY_BUILD OFF FOLDER "editor")
    endif()
    get_target_property(shown ${editor} SOURCES)
    if(NOT input IN_LIST shown)
        target_sources(${editor} PRIVATE "${input}")
        set_property(SOURCE "${input}" APPEND PROPERTY COMPILE_DEFINITIONS ${ARGN})
    endif()
endfunction()
