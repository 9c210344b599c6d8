"""A foreign project uses Millrace with add_subdirectory() or find_package(), and compiles actors."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

CMAKE_LISTS = f"""\
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
add_subdirectory("{REPOSITORY.as_posix()}" millrace)
set_target_properties(flow PROPERTIES UNITY_BUILD ON) # half of the time to compile it
add_executable(machine)
add_actor_sources(machine FILES src/twice.actor.cpp)
add_executable(coroutine)
add_actor_sources(coroutine BACKEND coroutine FILES src/twice.actor.cpp)
add_executable(probed)
add_actor_sources(probed FILES src/probed.actor.cpp OPTIONS --generate-probes)
add_subdirectory("{REPOSITORY.as_posix()}/tests/install/headers" headers)
"""

ACTOR = """\
#include "flow/sim.h"
#include <cstdio>
#include "greeting.h" // beside the actor file
#include "flow/actorcompiler.h" // must be the last include
ACTOR flow::Future<int> twice(flow::Future<int> x) {
    int v = wait(x);
    return v * 2;
}
int main() {
    flow::SimLoop sim;
    std::printf(GREETING "%d\\n", sim.run(twice(flow::Future<int>(21))));
}
"""

PACKAGE_CMAKE_LISTS = """\
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(millrace 0.1 REQUIRED)
add_executable(machine)
add_actor_sources(machine FILES twice.actor.cpp)
add_executable(old_program)
add_actor_sources(old_program BACKEND coroutine FILES old_program.actor.cpp)
target_link_libraries(old_program PRIVATE millrace::compat)
add_executable(some_tests)
add_actor_sources(some_tests FILES some_test.actor.cpp)
target_link_libraries(some_tests PRIVATE millrace::compat millrace::test_main)
add_executable(timer timer.cpp)
target_link_libraries(timer PRIVATE millrace::http)
"""

OLD_PROGRAM = """\
#include "flow/sim.h"
#include "flow/genericactors.actor.h"
#include "flow/actorcompiler.h" // This must be the last #include.
struct Cell {}; // a name of the program's own
ACTOR Future<Void> tick(AsyncVar<int>* var) {
    wait(delay(0.001) || var->onChange());
    printf("ticked %d\\n", var->get());
    return Void();
}
int main() {
    g_network = newNet2(TLSConfig());
    AsyncVar<int> var(1);
    Future<Void> f = stopAfter(tick(&var));
    g_network->run();
}
"""

SOME_TEST = """\
#include "flow/UnitTest.h"
#include "flow/sim.h"
#include "flow/actorcompiler.h" // This must be the last #include.
TEST_CASE("/user/waits") {
    wait(delay(1.0));
    ASSERT_EQ(now(), 1.0);
    return Void();
}
"""

TIMER = """\
#include "flow/flow.h"
int main() {
    flow::RealLoop loop;
    loop.run(flow::delay(0.001));
}
"""

PROBED = """\
#include "flow/sim.h"
#include <cstdio>
static unsigned long actor = 0;
static void fdb_probe_actor_create(const char* name, unsigned long address) {
    actor = address;
    std::printf("create %s\\n", name);
}
static void fdb_probe_actor_destroy(const char* name, unsigned long address) {
    std::printf("destroy %s %d\\n", name, address == actor);
}
static void fdb_probe_actor_enter(const char* name, unsigned long address, int index) {
    std::printf("enter %s %d %d\\n", name, address == actor, index);
}
static void fdb_probe_actor_exit(const char* name, unsigned long address, int index) {
    std::printf("exit %s %d %d\\n", name, address == actor, index);
}
#include "flow/actorcompiler.h"
ACTOR template <class T>
flow::Future<T> twice(flow::Future<T> x) {
    wait(flow::delay(1));
    state T v = wait(x);
    std::printf("%d %d\\n", v, THIS_ADDR == actor);
    wait(flow::delay(1));
    return v * 2;
}
ACTOR void empty() { std::printf("empty\\n"); }
int main() {
    flow::SimLoop sim;
    sim.run(twice<int>(21));
    empty();
}
"""

GREETING = '#define GREETING "twice "\n'


@dataclass
class Consumer:
    """`targets`: its programs. Of a library in the same build only what they need is built."""

    source: Path
    binary: Path
    targets: tuple[str, ...] = ("all",)

    @property
    def actor(self) -> Path:
        return self.source / "src" / "twice.actor.cpp"

    def build(self) -> "subprocess.CompletedProcess[str]":
        command = ["cmake", "--build", self.binary, "--target", *self.targets]
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
    programs = ("machine", "coroutine", "probed", "shop-state-machine", "shop-coroutine")
    consumer = Consumer(root / "source", root / "binary", programs)
    consumer.actor.parent.mkdir(parents=True)
    (consumer.source / "CMakeLists.txt").write_text(CMAKE_LISTS)
    consumer.actor.write_text(ACTOR)
    (consumer.actor.parent / "greeting.h").write_text(GREETING)
    (consumer.actor.parent / "probed.actor.cpp").write_text(PROBED)
    command = ["cmake", "-S", consumer.source, "-B", consumer.binary, "-G", "Ninja"]
    settings = ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    settings += ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]  # half of the time to compile it
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


def test_probes(consumer: Consumer) -> None:
    """A wait for a ready future is no visit of its own."""
    first = ["create twice", "enter twice 1 -1", "exit twice 1 -1", "enter twice 1 0", "21 1", "exit twice 1 0"]
    second = ["enter twice 1 2", "exit twice 1 2", "destroy twice 1"]
    third = ["create empty", "enter empty 1 -1", "empty", "exit empty 1 -1", "destroy empty 1"]
    assert consumer.run("probed").splitlines() == first + second + third


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


@pytest.mark.parametrize("backend", ["state-machine", "coroutine"])
def test_actors_in_headers(consumer: Consumer, backend: str) -> None:
    """Of the library and of the program, included by several files, also by one without actors."""
    assert consumer.run(f"headers/shop-{backend}") == (
        "7 14 2 5 4\n"  # price, twice that, tax, half plus tax, one less
        "plain 37\n"  # 14 + 0 + 1 + 2, and 20
        "helpers 4 1003\n"  # 1000 + 2 + 1
        "one template 1\n"
    )


def test_editors_read_the_headers_themselves(consumer: Consumer) -> None:
    commands = json.loads((consumer.binary / "compile_commands.json").read_text())
    sources = [entry for entry in commands if entry["file"].endswith(".actor.cpp") and "/headers/" in entry["file"]]
    assert len(sources) == 6  # three, with either backend
    for entry in sources[:3]:
        command = f"{entry['command']} -fsyntax-only -Wall -Wextra -Werror -H"
        done = subprocess.run(command, shell=True, cwd=entry["directory"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "table.actor.h" in done.stderr
        assert ".g.h" not in done.stderr


def test_the_embedding_project_keeps_its_own_flags(consumer: Consumer) -> None:
    commands = json.loads((consumer.binary / "compile_commands.json").read_text())
    assert not [entry["file"] for entry in commands if "-Werror" in entry["command"]]


@pytest.fixture(scope="module")
def user(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Consumer:
    """A project that uses only the installed files, after they were moved."""
    root = tmp_path_factory.mktemp("user")
    moved = Path(shutil.copytree(prefix, root / "moved"))
    user = Consumer(root / "source", root / "binary")
    user.source.mkdir()
    (user.source / "CMakeLists.txt").write_text(PACKAGE_CMAKE_LISTS)
    (user.source / "twice.actor.cpp").write_text(ACTOR)
    (user.source / "greeting.h").write_text(GREETING)
    (user.source / "old_program.actor.cpp").write_text(OLD_PROGRAM)
    (user.source / "some_test.actor.cpp").write_text(SOME_TEST)
    (user.source / "timer.cpp").write_text(TIMER)
    command = ["cmake", "-S", user.source, "-B", user.binary, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={moved}"]
    settings = ["-DCMAKE_CXX_COMPILER=clang++-19", f"-DMILLRACE_PYTHON={sys.executable}"]
    configured = subprocess.run([*command, *settings], capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    result = user.build()
    assert result.returncode == 0, result.stdout
    return user


def test_an_installed_package_serves_actors(user: Consumer) -> None:
    assert user.run("machine") == "twice 42\n"


def test_the_licence_is_installed(prefix: Path) -> None:
    assert "Apache License" in (prefix / "share" / "doc" / "libmillrace-dev" / "copyright").read_text(encoding="utf-8")


def test_an_installed_package_serves_old_programs(user: Consumer) -> None:
    assert user.run("old_program") == "ticked 1\n"


def test_an_installed_package_serves_tests(user: Consumer) -> None:
    assert "1 passed, 0 failed" in user.run("some_tests")


def test_a_program_loads_only_the_libraries_that_it_uses(user: Consumer, shell: dict[str, str]) -> None:
    packages = "millrace millrace-http"
    if (Path(shell["PKG_CONFIG_PATH"]) / "millrace-fiber.pc").exists():
        packages += " millrace-fiber"
    compiled = f"clang++-19 timer.cpp $(pkg-config --cflags --libs {packages}) -o {user.binary}/by_pkg_config"
    subprocess.run(compiled, shell=True, cwd=user.source, env=shell, check=True)
    for program, others in (("timer", ""), ("by_pkg_config", "|libssl|libcrypto|libboost")):
        user.run(program)
        command = ["readelf", "-d", user.binary / program]
        loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "libc.so" in loaded
        assert not re.search(f"liburing|libcares|libsodium|libnghttp2|libz{others}", loaded), (program, loaded)


def test_an_example_is_built_as_its_page_says(shell: dict[str, str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(REPOSITORY / "tests" / "examples" / "hello", tmp_path / "hello"))
    page = (folder / "README.md").read_text(encoding="utf-8")
    commands, after = page.split("```sh\n")[1].split("```\nIt prints ")
    printed = "".join(f"{line}\n" for line in re.findall(r"`(.+?)`", after))
    done = subprocess.run(commands, shell=True, cwd=folder, env=shell, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed" in done.stdout
    assert done.stdout.endswith(printed)


def configure(folder: Path, lists: str, *settings: str) -> "subprocess.CompletedProcess[str]":
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\n{lists}"
    )
    (folder / "plain.cpp").write_text('#include "flow/flow.h"\nflow::Future<int> one = 1;\n')
    command = ["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DMILLRACE_PYTHON={sys.executable}"]
    return subprocess.run([*command, *settings], capture_output=True, text=True, check=False)


def test_another_compiler_is_refused_in_a_sentence(prefix: Path, tmp_path: Path) -> None:
    lists = "find_package(millrace REQUIRED)\n"
    done = configure(tmp_path / "user", lists, "-DCMAKE_CXX_COMPILER=g++", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode == 1
    message = " ".join(done.stderr.split())
    assert "this Millrace was built by Clang 19, and library and program must be compiled by the same" in message


def test_another_version_is_refused(prefix: Path, tmp_path: Path) -> None:
    lists = "find_package(millrace 7.0 REQUIRED)\n"
    done = configure(tmp_path / "user", lists, "-DCMAKE_CXX_COMPILER=clang++-19", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode == 1
    assert "0.1.0" in done.stderr


def test_fetch_content_takes_a_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{REPOSITORY}", clone], check=True)
    lists = f"""\
include(FetchContent)
FetchContent_Declare(millrace GIT_REPOSITORY "file://{clone}" GIT_TAG HEAD)
FetchContent_MakeAvailable(millrace)
add_library(plain OBJECT plain.cpp)
target_link_libraries(plain PRIVATE millrace::flow)
"""
    done = configure(tmp_path / "user", lists, "-DCMAKE_CXX_COMPILER=clang++-19")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compiled without optimisation: set CMAKE_BUILD_TYPE" in done.stdout
    # Nothing else is compiled: it links none of the libraries.
    command = ["cmake", "--build", tmp_path / "user" / "build"]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert built.returncode == 0, built.stdout
    assert re.findall(r"\w+[.]cpp[.]o", built.stdout) == ["plain.cpp.o"]


def test_pip_installs_the_compiler_and_leaves_nothing_in_the_tree(tmp_path: Path) -> None:
    def untracked() -> set[str]:
        command = ["git", "-C", REPOSITORY, "status", "--porcelain", "--ignored", "actorc"]
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return {line for line in listing.splitlines() if "__pycache__" not in line}

    before = untracked()
    # Beside its dependencies, which the Python that runs this has.
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "--target", tmp_path]
    done = subprocess.run([*command, REPOSITORY / "actorc"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert untracked() == before
    (tmp_path / "twice.actor.cpp").write_text(ACTOR)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    for backend in ("state-machine", "coroutine"):
        compiled = [tmp_path / "bin" / "actorc", "--backend", backend, "twice.actor.cpp", "twice.g.cpp"]
        subprocess.run(compiled, cwd=tmp_path, env=environment, check=True)
        assert "twice" in (tmp_path / "twice.g.cpp").read_text()
