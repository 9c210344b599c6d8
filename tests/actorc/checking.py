"""What the tests of `actorc check` share."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
