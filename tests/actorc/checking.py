"""What the tests of `actorc check` share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from actorc_check import clang
from common.precompiled import kept

ROOT = Path(__file__).parents[2]
HEAD = """\
#include "flow/flow.h"
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
namespace flow { class Process; }
using namespace flow;
int use(std::string_view);
Future<int> fetch(Future<int>);
Future<Void> rest();
bool flag();
"""


def actorc(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "actorc"), "check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@cache
def flags_with(*headers: str) -> tuple[str, ...]:
    """Flags with which these headers, which take longest to read, are read once for all tests."""
    flags = ("-std=c++20", f"-I{ROOT}", "-O2")

    def make(source: Path, result: Path) -> Iterable[str]:
        made = ["-x", "c++-header", *flags, *clang._builtin_headers(), "-w"]
        unit = clang._library().Index.create().parse(str(source), args=made)
        unit.save(str(result))
        return [str(source), *(each.include.name for each in unit.get_includes())]

    return "-include-pch", str(kept(("libclang", *flags), headers, "pch", make)[1]), *flags


def actorc_on_flow(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Of files that begin with flow/flow.h."""
    return actorc(*arguments, "--", *flags_with("flow/flow.h"), folder=folder)
