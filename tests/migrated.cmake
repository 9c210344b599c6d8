# Every program runs as `actorc migrate` writes it in exact style, too, and prints the same trace. Some print what a
# migration cannot keep; they are listed here, with what is done about each:
#   numbers  all but the numbers must be the same
#   own      it prints migrated/NAME.expected
#   out      it is not run
# and with /gcc behind it, if that is so with gcc alone.
set(migrated_differently
    "captures          | own         | what a call makes for an argument is destroyed with the coroutine"
    "catches           | own         | an exception that is no Error lives to the end of the handler that took it"
    "descriptions      | numbers     | it prints the number of a line"
    "detached          | own         | what a call makes for an argument is destroyed with the coroutine"
    "dying_locals      | out         | a coroutine's local lives on while it waits"
    "lambdas           | numbers     | it prints numbers of lines"
    "lines             | out         | it is about numbers of lines and the name of the file"
    "long_chains       | out         | an error is thrown anew in each coroutine with a handler: half a minute with all that it passes"
    "parameters        | own         | it counts copies of arguments, and where one cannot be copied, the call throws"
    "parameters        | out/gcc     | arguments are made last to first"
    "range_expressions | numbers     | it prints the number of a line"
    "results           | own         | it counts copies: a wait gives a reference to the result, co_await a copy"
    "rooms             | own         | an operation that a function makes for a race takes a block"
    "simulated         | own         | a site of buggify() is a line of a file"
    "sizes             | out         | it names the classes that actorc makes of actors"
    "testcases         | numbers     | it prints numbers of lines"
    "throws            | numbers     | it counts C++ exceptions, of which an actor needs none")

# add_migrated_program(<target> <program> [<header>...]): makes the target from what the program becomes. `result` is how
# its trace is checked: as the table says, or `same`.
function(add_migrated_program target result program)
    cmake_path(GET program STEM name)
    set(how same)
    foreach(line IN LISTS migrated_differently)
        if(line MATCHES "^${name} +[|] (numbers|own|out)(/gcc)? ")
            set(found ${CMAKE_MATCH_1})
            if(NOT CMAKE_MATCH_2 OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
                set(how ${found})
            endif()
        endif()
    endforeach()
    set(${result} ${how} PARENT_SCOPE)
    if(how STREQUAL "out")
        return()
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.migrated")
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH root)
    file(GLOB_RECURSE tool CONFIGURE_DEPENDS "${root}/actorc/*.py")
    add_custom_command(
        OUTPUT "${folder}/${name}.cpp"
        COMMAND "${python}" "${root}/tools/migrate_copies.py" "${folder}" "${program}" ${ARGN}
        DEPENDS "${program}" ${ARGN} ${tool} "${root}/tools/migrate_copies.py"
        COMMENT "actorc migrate ${name}"
        VERBATIM)
    add_executable(${target} "${folder}/${name}.cpp")
    cmake_path(GET program PARENT_PATH source_folder)
    target_compile_options(${target} PRIVATE "-iquote${source_folder}")
    target_link_libraries(${target} PRIVATE millrace::flow)
endfunction()
