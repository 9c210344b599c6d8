"""Runs the compiler from where it lies, without installing it: `python FOLDER INPUT OUTPUT`."""

import gc
import os
import sys

gc.disable()  # also while modules are imported: they stay until the end

# Compiling the modules takes longer than an actor file. Where Python may not keep the result beside them, as in many
# containers and below /usr, the user's cache has it.
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "actorc")
_KEEPS = os.access(_FOLDER, os.W_OK) and not sys.dont_write_bytecode
if not _KEEPS and not os.path.isdir(os.path.join(_FOLDER, "__pycache__")):
    _CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    sys.pycache_prefix = os.path.join(_CACHE, "millrace", "python")
    sys.dont_write_bytecode = False

from actorc.__main__ import command  # noqa: E402  behind what says where it is kept

command()
