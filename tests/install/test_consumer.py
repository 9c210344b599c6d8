"""A project of somebody else's takes Millrace in with add_subdirectory() and compiles actors."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

CMAKE_LISTS = f"""\
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
add_subdirectory("{REPOSITORY.as_posix()}" millrace)
add_executable(machine)
add_actor_sources(machine FILES src/twice.actor.cpp)
add_executable(coroutine)
add_actor_sources(coroutine BACKEND coroutine FILES src/twice.actor.cpp)
"""

ACTOR = """\
#include "flow/flow.h"
#include <cstdio>
#include "greeting.h" // beside the actor file
#include "flow/actorcompiler.h" // must be the last include
ACTOR flow::Future<int> twice(flow::Future<int> x) {
    int v = wait(x);
    return v * 2;
}
int main() {
    flow::SimLoop loop;
    std::printf(GREETING "%d\\n", loop.run(twice(flow::Future<int>(21))));
}
"""

GREETING = '#define GREETING "twice "\n'


@dataclass
class Consumer:
    source: Path
    binary: Path

    @property
    def actor(self) -> Path:
        return self.source / "src" / "twice.actor.cpp"

    def build(self) -> "subprocess.CompletedProcess[str]":
        command = ["cmake", "--build", self.binary]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def run(self, program: str) -> str:
        return subprocess.run([self.binary / program], capture_output=True, text=True, check=True, timeout=60).stdout

    def edit(self, path: Path, text: str) -> None:
        """Writes the file with a later time, however coarse the clock of the file system is."""
        before = path.stat().st_mtime_ns
        path.write_text(text)
        later = max(path.stat().st_mtime_ns, before + 10_000_000)
        os.utime(path, ns=(later, later))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Consumer:
    """Built once from nothing: that is the slow part."""
    root = tmp_path_factory.mktemp("consumer")
    consumer = Consumer(root / "source", root / "binary")
    consumer.actor.parent.mkdir(parents=True)
    (consumer.source / "CMakeLists.txt").write_text(CMAKE_LISTS)
    consumer.actor.write_text(ACTOR)
    (consumer.actor.parent / "greeting.h").write_text(GREETING)
    command = ["cmake", "-S", consumer.source, "-B", consumer.binary, "-G", "Ninja"]
    settings = ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    configured = subprocess.run([*command, *settings], capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    result = consumer.build()
    assert result.returncode == 0, result.stdout
    return consumer


@pytest.fixture
def consumer(built: Consumer) -> Consumer:
    """The project as it was written, built, whatever the test before did to it."""
    for path, text in ((built.actor, ACTOR), (built.actor.parent / "greeting.h", GREETING)):
        if path.read_text() != text:
            built.edit(path, text)
    result = built.build()
    assert result.returncode == 0, result.stdout
    return built


@pytest.mark.parametrize("program", ["machine", "coroutine"])
def test_runs_with_either_backend(consumer: Consumer, program: str) -> None:
    assert consumer.run(program) == "twice 42\n"


def test_nothing_to_do_when_nothing_changed(consumer: Consumer) -> None:
    assert "no work to do" in consumer.build().stdout


@pytest.mark.parametrize("program", ["machine", "coroutine"])
def test_rebuilds_when_the_actor_changed(consumer: Consumer, program: str) -> None:
    consumer.edit(consumer.actor, ACTOR.replace("v * 2", "v * 3"))
    result = consumer.build()
    assert result.returncode == 0, result.stdout
    assert consumer.run(program) == "twice 63\n"


def test_rebuilds_when_a_header_beside_the_actor_changed(consumer: Consumer) -> None:
    consumer.edit(consumer.actor.parent / "greeting.h", '#define GREETING "two times "\n')
    result = consumer.build()
    assert result.returncode == 0, result.stdout
    assert consumer.run("machine") == "two times 42\n"


def test_editors_find_the_generated_file(consumer: Consumer) -> None:
    commands = json.loads((consumer.binary / "compile_commands.json").read_text())
    generated = [entry["file"] for entry in commands if entry["file"].endswith("twice.actor.g.cpp")]
    assert len(generated) == 2
    assert all(Path(file).exists() for file in generated)


def test_a_rejected_actor_fails_the_build_with_its_place(consumer: Consumer) -> None:
    broken = ACTOR.replace("int v = wait(x);", "int v = wait(x;")
    consumer.edit(consumer.actor, broken)
    result = consumer.build()
    assert result.returncode != 0
    line = broken.splitlines().index("    int v = wait(x;") + 1
    assert f"{consumer.actor}:{line}:" in result.stdout


def test_the_embedding_project_keeps_its_own_flags(consumer: Consumer) -> None:
    commands = json.loads((consumer.binary / "compile_commands.json").read_text())
    assert not [entry["file"] for entry in commands if "-Werror" in entry["command"]]
