"""`actorc check` finds nothing in the examples that users copy, with `--gcc` either."""

from __future__ import annotations

from pathlib import Path

import pytest
from checking import ROOT, actorc

from actorc_check import clang

pytest.importorskip("clang.cindex")

FLAGS = ("-std=c++20", f"-I{ROOT}", "-O2")
INCLUDED = ("flow/flow.h", "net/real/real_network.h", "net/message/message_socket.h", "net/serve.h")
OTHERS = {"tls_info.cpp", "tutorial.actor.cpp", "ported_from_flow"}  # need OpenSSL, and other flags


def precompiled(folder: Path) -> Path:
    """What most of them include, which takes longest to read: made by the clang that reads them."""
    header, result = folder / "precompiled.h", folder / "precompiled.pch"
    header.write_text("".join(f'#include "{name}"\n' for name in INCLUDED), encoding="utf-8")
    flags = ["-x", "c++-header", *FLAGS, *clang._builtin_headers(), "-w"]
    clang._library().Index.create().parse(str(header), args=flags).save(str(result))
    return result


def test_the_examples_have_no_traps(tmp_path: Path) -> None:
    files = [
        str(path)
        for folder in ("net/examples", "tests/examples")
        for path in sorted((ROOT / folder).rglob("*.cpp"))
        if not OTHERS & {path.name, path.parent.name}
        and {"co_await", "ACTOR"} & set(path.read_text(encoding="utf-8").split())
    ]
    assert len(files) > 15
    flags = ("-include-pch", str(precompiled(tmp_path)), *FLAGS)
    done = actorc("--gcc", "--jobs=2", *files, "--", *flags, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
