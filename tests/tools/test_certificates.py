"""tools/certificates makes what its help promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from common.tree import ROOT

PROGRAM = ROOT / "tools" / "certificates.py"


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates") / "deep" / "down"
    done = run(sys.executable, PROGRAM, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def verify(folder: Path, name: str, authority: str, *options: str) -> str:
    done = run("openssl", "verify", "-CAfile", folder / f"{authority}.pem", *options, folder / f"{name}.pem")
    return done.stdout.splitlines()[-1] if not done.returncode else done.stderr


def test_there_are_pairs_and_nothing_else(made: Path) -> None:
    names = {"ca", "server", "other", "client", "expired", "strangers", "stranger"}
    assert {file.name for file in made.iterdir()} == {f"{name}.{kind}" for name in names for kind in ("pem", "key")}


@pytest.mark.parametrize(
    ("name", "authority", "options"),
    [
        ("server", "ca", ("-verify_hostname", "localhost", "-purpose", "sslserver")),
        ("server", "ca", ("-verify_hostname", "example.org")),
        ("server", "ca", ("-verify_ip", "127.0.0.1")),
        ("server", "ca", ("-verify_ip", "::1")),
        ("other", "ca", ("-verify_hostname", "other.example.org")),
        ("other", "ca", ("-verify_hostname", "any.wild.example.org")),
        ("client", "ca", ("-purpose", "sslclient")),
        ("stranger", "strangers", ("-verify_hostname", "localhost")),
    ],
)
def test_what_is_valid(made: Path, name: str, authority: str, options: tuple[str, ...]) -> None:
    assert verify(made, name, authority, *options).endswith(": OK")


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("expired", (), "certificate has expired"),
        ("stranger", (), "unable to get local issuer certificate"),
        ("server", ("-verify_hostname", "other.example.org"), "hostname mismatch"),
    ],
)
def test_what_is_not(made: Path, name: str, options: tuple[str, ...], why: str) -> None:
    assert why in verify(made, name, "ca", *options)


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="ascii")
    done = run(sys.executable, PROGRAM, file)
    assert done.returncode == 1
    assert done.stderr.startswith("certificates: ")
    assert "Traceback" not in done.stderr
