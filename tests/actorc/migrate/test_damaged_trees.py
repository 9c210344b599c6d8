"""Real files, some of them damaged: nothing fails, the patch equals the written files, a second run changes nothing."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from trees import tree

from actorc_migrate.diff import unified
from actorc_migrate.document import as_json
from actorc_migrate.page import as_html
from actorc_migrate.project import Project
from actorc_migrate.report import as_text
from actorc_migrate.settings import Settings
from actorc_migrate.write import write_all

TESTS = Path(__file__).parents[2]
FILES = sorted(
    path for folder in ("programs", "compat", "install", "flow") for path in (TESTS / folder).rglob("*.actor.*")
)
LISTS = sorted(TESTS.rglob("CMakeLists.txt"))
TREE = 40  # files
PIECES = [
    b"UNCANCELLABLE ", b"ACTOR ", b"void ", b"{", b"}", b"(", b")", b"<", b'"', b"//", b"/*", b";", b"\\\n", b"\r\n",
    b"\xff", b'\n#include "worker.actor.h"\n', b"\n#if 0\n", b"\n#endif\n", b"loop {", b"X::", b"self->", b"\n\n\n",
    b"\xef\xbb\xbf",
]  # fmt: skip


def damaged(text: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        place = chance.randrange(len(text) + 1)
        if chance.random() < 0.6:
            text = text[:place] + chance.choice(PIECES) + text[place:]
        else:
            text = text[:place] + text[place + chance.randrange(1, 40) :]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_tree(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for number, path in enumerate(chance.sample(FILES, TREE) + LISTS):
        text = damaged(path.read_bytes(), chance)
        for folder in ("given", "patched"):
            place = tmp_path / folder / f"d{number % 5}" / f"e{number}"
            place.mkdir(parents=True)
            (place / path.name).write_bytes(text)
    patched = tmp_path / "patched"
    monkeypatch.chdir(tmp_path / "given")
    said: list[str] = []
    settings = Settings("foundationdb" if seed % 2 else "flow")
    result = Project(["."], settings, said.append).migrated()
    assert [failure for failure in result.failures if failure.kind == "internal"] == [], "".join(said)
    assert len(result.changed) > TREE / 4
    for report in (as_text, as_json, as_html):
        assert report(result)
    patch = "".join(map(unified, result.changed)).encode("utf-8", "surrogateescape")
    subprocess.run(["git", "init", "-q"], cwd=patched, check=True)
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=patch, cwd=patched, check=True)
    subprocess.run(["rm", "-r", ".git"], cwd=patched, check=True)
    write_all(result.changed)
    assert tree(tmp_path / "given") == tree(patched)
    assert Project(["."], settings, said.append).migrated().changed == []
