"""millrace debugger: what gdb and lldb load (millrace_gdb.py, millrace_lldb.py), and the command that says how."""
