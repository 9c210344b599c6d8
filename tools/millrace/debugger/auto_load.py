"""gdb loads this file by itself with each program that uses Millrace: flow/loop/detail/gdb_script.h."""

import sys
from importlib import import_module
from pathlib import Path

written = sys.dont_write_bytecode
sys.dont_write_bytecode = True  # an installation stays as it is
sys.path.append(str(Path(__file__).resolve().parents[2] / "millrace"))
try:
    import_module("millrace.debugger.millrace_gdb")
finally:
    sys.dont_write_bytecode = written
