# Included by the first project() of each tree that tools/bench compare builds: the same source gives the same program,
# to the byte, wherever the tree is. Else a path that is longer would move all that follows it in the program.
add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
