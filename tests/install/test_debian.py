"""The Debian package, made from the libraries that the C++ tests use: what is in it, and a program against it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from common.build import binary_dir

PROGRAM = """\
#include "flow/flow.h"
#include <cstdio>
using namespace flow;
#include "flow/actorcompiler.h" // must be the last include
ACTOR Future<int> twice(Future<int> x) {
    int v = wait(x);
    return v * 2;
}
int main() {
    RealLoop loop;
    std::printf("%d\\n", loop.run(twice(21)));
}
"""


def output_of(*command: str | Path, folder: Path, **environment: str) -> str:
    variables = os.environ | environment
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`prefix` has built what goes into it. Compressed least, since that takes the most time."""
    folder = tmp_path_factory.mktemp("package")
    config = binary_dir("tests") / "CPackConfig.cmake"
    options = ("-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none", "-B", folder)
    output_of("cpack", "--config", config, *options, folder=folder)
    (found,) = folder.glob("libmillrace-dev_*_amd64.deb")
    return found


def test_the_package_names_what_a_program_needs(package: Path) -> None:
    shown = output_of("dpkg-deb", "--field", package, folder=package.parent)
    fields = dict(line.split(": ", 1) for line in shown.splitlines() if ": " in line and not line.startswith(" "))
    assert fields["Package"] == "libmillrace-dev"
    assert fields["Recommends"] == "clang-19"
    needed = {each.split()[0] for each in fields["Depends"].split(", ")}
    libraries = ("ssl", "c-ares", "uring", "nghttp2", "pq", "sodium", "fmt")
    assert {"python3", *(f"lib{name}-dev" for name in libraries)} <= needed


def test_a_program_compiles_against_the_unpacked_package(package: Path, tmp_path: Path) -> None:
    output_of("dpkg", "--extract", package, tmp_path, folder=tmp_path)
    root = tmp_path / "usr"
    assert sorted(path.name for path in root.iterdir()) == ["bin", "include", "lib", "share"]
    assert sorted(path.name for path in (root / "include").iterdir()) == ["millrace"]
    assert (root / "share" / "doc" / "libmillrace-dev" / "copyright").is_file()
    assert not list(root.glob("**/__pycache__")), "nothing of a run of the tree"
    assert "millrace COMMAND" in output_of(root / "bin" / "millrace", "--help", folder=tmp_path)
    assert (root / "share" / "gdb" / "auto-load" / "millrace.py").is_file()
    (tmp_path / "twice.actor.cpp").write_text(PROGRAM, encoding="utf-8")
    output_of(
        root / "bin" / "actorc", "twice.actor.cpp", "twice.g.cpp", folder=tmp_path, MILLRACE_PYTHON=sys.executable
    )
    flags = output_of(
        "pkg-config", "--cflags", "--libs", "millrace", folder=tmp_path, PKG_CONFIG_PATH=str(root / "lib" / "pkgconfig")
    )
    output_of("clang++-19", "twice.g.cpp", *flags.split(), "-o", "twice", folder=tmp_path)
    assert output_of(tmp_path / "twice", folder=tmp_path) == "42\n"
