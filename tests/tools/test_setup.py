"""tools/setup: what each set asks for, and that help is had without it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUP = ROOT / "tools" / "setup"
TOOLS = sorted(path.name for path in SETUP.parent.iterdir() if path.is_file() and not path.suffix)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SETUP, *arguments], capture_output=True, text=True, check=False)


def test_an_unknown_set_of_packages_is_refused() -> None:
    done = run("everything")
    assert done.returncode == 2
    assert "there is no set of packages 'everything'" in done.stderr


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree without .venv, and in `bin` a dpkg-query that notes its calls: it is the first program that setup runs."""
    tree = tmp_path_factory.mktemp("bare")
    for part in ("tools", "actorc"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "bin").mkdir()
    (tree / "bin" / "dpkg-query").write_text(f"#!/bin/sh\ntouch {tree}/was_run\n")
    (tree / "bin" / "dpkg-query").chmod(0o755)
    return tree


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def asked(tree: Path, command: str, *arguments: str) -> set[str]:
    """The packages that a program of tools/ wants installed where none is."""
    noted = tree / "noted"
    noted.unlink(missing_ok=True)
    script(tree / "bin" / "apt-get", f'echo "$@" > {noted}; [ "$1" = update ]')
    script(tree / "bin" / "sudo", 'exec "$@"')
    environment = {"PATH": f"{tree}/bin:/usr/bin:/bin"}
    done = subprocess.run(
        [tree / "tools" / command, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    (tree / "was_run").unlink()
    assert done.returncode == 1, done.stderr
    assert "setup: failed: " in done.stderr
    return {word for word in noted.read_text().split() if not word.startswith("-")}


def test_help_lists_the_sets_that_there_are(bare: Path) -> None:
    listed = re.findall(r"^  (\w+) ", run("--help").stdout, re.MULTILINE)
    there = re.findall(r"^        (\w+)\)", SETUP.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(there)
    for name in listed:
        assert asked(bare, "setup", name) >= {"install", "python3-venv" if name != "library" else "clang-19"}


LANGUAGES = {"golang-go", "rustc", "cargo", "libgrpc++-dev", "protobuf-compiler", "capnproto"}
LIBRARIES = {"libuv1-dev", "libcapnp-dev", "libzmq3-dev", "librocksdb-dev"}
SERVERS = {"nginx-light", "nghttp2-server", "wrk", "postgresql"}


@pytest.mark.parametrize(
    ("command", "of_interest"),
    [
        ("setup", set()),
        ("setup tests", {"librocksdb-dev", "postgresql"}),
        ("bench --quick", set()),
        ("bench compare HEAD~1", set()),
        ("bench --quick --peers", {"libuv1-dev", "libcapnp-dev"}),
        ("bench net", LANGUAGES | {"libuv1-dev", "libcapnp-dev"}),
        ("bench http", SERVERS - {"postgresql"} | {"golang-go", "rustc", "cargo"}),
        ("bench postgres", {"postgresql", "golang-go", "rustc", "cargo"}),
        ("bench messages --quick", {"libzmq3-dev"}),
        ("bench report", LANGUAGES | {"libuv1-dev", "libcapnp-dev", "libzmq3-dev"}),
        ("cluster kv", set()),
    ],
)
def test_what_we_compare_with_is_installed_for_that_only(command: str, of_interest: set[str], bare: Path) -> None:
    assert asked(bare, *command.split()) & (LANGUAGES | LIBRARIES | SERVERS) == of_interest


def test_tools_that_compile_nothing_ask_for_no_compiler(bare: Path) -> None:
    for tool in ("certificates", "docs"):
        assert not asked(bare, tool) & {"clang-19", "g++"}


def test_python_modules_are_installed_once(bare: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(bare, tree)
    script(tree / "bin" / "dpkg-query", 'for name; do echo "ii $name"; done')
    noted = tree / "noted"
    (tree / ".venv" / "bin").mkdir(parents=True)
    script(tree / ".venv" / "bin" / "python", f'echo "$@" >> {noted}')
    projects = [tree / folder / "pyproject.toml" for folder in ("actorc", "tools/millrace")]
    pinned = [*projects, tree / "tools" / "requirements.txt"]
    hashes = subprocess.run(["sha256sum", *pinned], capture_output=True, check=True).stdout
    versions = subprocess.run(["sha256sum"], input=hashes, capture_output=True, check=True).stdout
    (tree / ".venv" / "installed").write_bytes(versions)

    def set_up(*sets: str) -> list[str]:
        noted.write_text("")
        environment = {"PATH": f"{tree}/bin:/usr/bin:/bin"}
        subprocess.run([tree / "tools" / "setup", *sets], env=environment, check=True)
        return noted.read_text().split()

    assert set_up("tools")[-4:] == ["jinja2", "plotly", "pyelftools", "rich"]
    assert set_up("tools") == []
    assert {"rich", "PyYAML"} <= set(set_up("docs"))
    assert set_up("tools") == set_up("docs") == set_up("tools", "docs") == []


@pytest.mark.parametrize("tool", TOOLS)
def test_help_sets_nothing_up(tool: str, bare: Path) -> None:
    environment = os.environ | {"PATH": f"{bare}/bin:/usr/bin:/bin"}
    for root in (ROOT, bare):
        command = [root / "tools" / tool, "--help"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode and root is bare and tool in ("bench", "fuzz", "mutants"):
            assert re.search(rf"run {bare}/tools/setup [a-z]+ first", done.stderr)
        else:
            assert done.returncode == 0, done.stderr
            assert f"tools/{tool}" in done.stdout or tool == "actorc"
    assert not (bare / "was_run").exists()
    assert not (bare / ".venv").exists()


def test_actorc_compiles_where_only_the_libraries_were_set_up(bare: Path, tmp_path: Path) -> None:
    (tmp_path / "a.actor.cpp").write_text("ACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\n")
    command = [bare / "tools" / "actorc", tmp_path / "a.actor.cpp", tmp_path / "a.g.cpp"]
    done = subprocess.run(
        command, env=os.environ | {"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "a.g.cpp").exists()
