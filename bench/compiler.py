#!/usr/bin/env python3
"""Measures actorc on generated files: `.venv/bin/python bench/compiler.py --help`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from benchlib.compiler_command import main

if __name__ == "__main__":
    sys.exit(main())
