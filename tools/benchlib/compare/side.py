"""The two sides of `tools/bench compare A B`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from benchlib.compare.presets import presets
from millrace.bench.recorded import Recorded, existing
from millrace.common.arguments import UsageError, unknown
from millrace.common.failure import Failure

WORKING_TREE = "."
DESCRIPTION_WIDTH = 60  # of a side in a line of at most 100 columns


@dataclass(frozen=True, slots=True)
class Build:
    """A side that is built and run."""

    text: str
    commit: str | None  # None: the working tree as it is
    preset: str


Side = Build | Recorded


def parse_side(text: str, default_preset: str, root: Path) -> Side:
    """One word of the command line: REVISION, PRESET, REVISION:PRESET, `.`, FILE.json or FILE.json:COMPILER."""
    known = presets(root)
    before, colon, after = text.rpartition(":")
    name = before if colon else text
    if name.endswith(".json") or (name != WORKING_TREE and Path(name).is_file()):
        return Recorded(text, existing(Path(name)), (after or None) if colon else None)
    if not colon and text in known:
        return Build(text, None, text)
    if colon and after and after not in known and (commit := _resolved(text, root)):
        return Build(text, commit, _known(default_preset, known))  # :/words of a message
    preset = _known((after if colon else "") or default_preset, known)
    return Build(text or WORKING_TREE, None if name in ("", WORKING_TREE) else _commit(name, root, known), preset)


def _known(name: str, known: list[str]) -> str:
    if name not in known:
        raise UsageError(unknown("preset", name, known))
    return name


def _commit(name: str, root: Path, known: list[str]) -> str:
    """The full hash."""
    if commit := _resolved(name, root):
        return commit
    if _git(root, "rev-parse", "--git-dir").returncode:
        raise Failure(f"{root} is no git repository: only presets and JSON files can be compared")
    if "ambiguous" in (said := _git(root, "rev-parse", "--verify", "--end-of-options", name + "^{commit}").stderr):
        raise UsageError(said.strip())
    raise UsageError(unknown("revision or preset", name, [*known_revisions(root), *known]))


def _resolved(name: str, root: Path) -> str:
    """The full hash of a commit, or ""."""
    options = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    # In two steps, since git searches messages for all that follows ":/".
    found = _git(root, *options, name).stdout.strip()
    return _git(root, *options, found + "^{commit}").stdout.strip() if found else ""


def known_revisions(root: Path) -> list[str]:
    """HEAD, the branches and the tags, the latest first."""
    listing = ["for-each-ref", "--sort=-creatordate", "--format=%(refname:short)", "refs/heads", "refs/tags"]
    return ["HEAD", *_git(root, *listing, "refs/remotes").stdout.split()]


def describe(side: Build, root: Path) -> str:
    """The commit by its hash and first line."""
    if side.commit is None:
        head = _git(root, "rev-parse", "--short=12", "--quiet", "--verify", "HEAD").stdout.strip()
        changed = _git(root, "status", "--porcelain", "--untracked-files=no").stdout.strip()
        return f"the working tree ({head}{' and changes' if changed else ''})" if head else "the working tree"
    line = _git(root, "log", "-1", "--no-decorate", "--abbrev=12", "--format=%h %s", side.commit).stdout
    return shorten(line, DESCRIPTION_WIDTH, placeholder=" ...")


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # Without optional locks git does not write the index here.
    command: Sequence[str] = ["git", "--no-optional-locks", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, errors="replace", check=False)
