#pragma once
// Makes gdb load the commands and printers of Millrace with each program, if an installation has put the script into a
// folder that gdb trusts. Elsewhere `millrace debugger gdb` prints the line for ~/.gdbinit.
//
// The section is part of the debug information: the program does not load it. The compiler checks that the script
// exists, because gdb warns of a script that does not.

#ifndef MILLRACE_GDB_SCRIPT
#define MILLRACE_GDB_SCRIPT "/usr/share/gdb/auto-load/millrace.py"
#endif
#if defined(__ELF__) && __has_include(MILLRACE_GDB_SCRIPT)
// The byte 1 says that the entry is the file name of a Python script. The linker keeps one of several equal entries.
__asm__(".pushsection \".debug_gdb_scripts\", \"MS\", %progbits, 1\n"
        ".byte 1\n"
        ".asciz \"" MILLRACE_GDB_SCRIPT "\"\n"
        ".popsection\n");
#endif
