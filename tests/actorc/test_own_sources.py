"""`actorc check` finds nothing in the examples that users copy, with `--gcc` either."""

from __future__ import annotations

from pathlib import Path

import pytest
from checking import ROOT, actorc, flags_with

pytest.importorskip("clang.cindex")

INCLUDED = ("flow/flow.h", "net/real/real_network.h", "net/message/message_socket.h", "net/serve.h")
# These need the headers of another library, or other flags.
OTHERS = {"asyncio_ask.cpp", "glib_clock.cpp", "tls_info.cpp", "tutorial.actor.cpp", "ported_from_flow"}


@pytest.mark.pages
def test_the_examples_have_no_traps(tmp_path: Path) -> None:
    files = [
        str(path)
        for folder in ("net/examples", "tests/examples")
        for path in sorted((ROOT / folder).rglob("*.cpp"))
        if not OTHERS & {path.name, path.parent.name}
        and {"co_await", "ACTOR"} & set(path.read_text(encoding="utf-8").split())
    ]
    assert len(files) > 15
    done = actorc("--gcc", "--jobs=2", *files, "--", *flags_with(*INCLUDED), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
