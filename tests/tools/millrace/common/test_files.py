"""What commands write is there whole or not at all, and what cannot be written is not lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from millrace.common import files
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

BENCH = Path(__file__).resolve().parents[4] / "tools" / "bench.py"


def test_looking_changes_nothing(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("as it was")
    files.check_writable(old)
    files.check_writable(new)
    files.check_writable(Path("/dev/null"))
    assert old.read_text() == "as it was"
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(("place", "why"), [("nowhere/x.json", "No such file"), ("folder", "it is a folder")])
def test_what_cannot_be_written_is_found_before(tmp_path: Path, place: str, why: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=f"cannot write .*{place}: {why}"):
        files.check_writable(tmp_path / place)


def test_a_folder_is_made_and_looked_at(tmp_path: Path) -> None:
    files.check_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot make the folder .*file"):
        files.check_folder(tmp_path / "file")


def test_a_link_is_written_through_and_the_mode_stays(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "there").chmod(0o640)
    (tmp_path / "link").symlink_to("there")
    files.write(tmp_path / "link", "new")
    assert (tmp_path / "there").read_text() == "new"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").stat().st_mode & 0o777 == 0o640
    assert len(list(tmp_path.iterdir())) == 2


def fill_disk(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> None:
    """Files below these folders are made, but hold nothing."""
    whole = Path.open

    def opened(self: Path, mode: str = "r", **options: object) -> object:
        if "w" in mode and any(self.is_relative_to(folder) for folder in folders):
            whole(self, mode).close()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))
        return whole(self, mode, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", opened)


def test_on_a_full_disk_the_old_file_stays_and_the_new_one_is_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full, spare = tmp_path / "full", tmp_path / "spare"
    for folder in (full, spare):
        folder.mkdir()
    (full / "a.json").write_text("old")
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    fill_disk(monkeypatch, full)
    with pytest.raises(Failure, match=r"a.json: No space left on device; what was to be there is in (\S+)$") as caught:
        files.write(full / "a.json", "an hour's work")
    assert Path(str(caught.value).split()[-1]).read_text() == "an hour's work"
    assert (full / "a.json").read_text() == "old"
    assert [each.name for each in full.iterdir()] == ["a.json"]


def test_where_nothing_can_be_written_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fill_disk(monkeypatch, tmp_path)
    with pytest.raises(Failure, match="what was to be there was printed"):
        files.write(tmp_path / "a.json", "an hour's work")
    assert capsys.readouterr().out == "an hour's work\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_output_is_said_in_one_line(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, BENCH, "--help"]
        environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "tools/bench: No space left on device\n")
