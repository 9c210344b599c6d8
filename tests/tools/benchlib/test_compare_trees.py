"""tools/bench compare from end to end, in a small repository of which the benchmarks are a script."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from benchlib.compare.checkout import Store
from benchlib.compare.command import main
from benchlib.compare.program import build_program
from benchlib.compare.side import Build, parse_side
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

TOOLS = Path(__file__).resolve().parents[3] / "tools"
CONSOLE = Console(file=io.StringIO())

PRESETS = {
    "version": 6,
    "configurePresets": [
        {"name": name, "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}
        for name in ("clang", "gcc")
    ],
}

CMAKE = """\
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
add_subdirectory(bench)
"""

BENCH_CMAKE = """\
add_custom_target(millrace_bench COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/bench.py millrace_bench)
"""

# Obeys the options that compare may use, and takes exactly as long as NANOSECONDS says.
PROGRAM = (
    f"#!{sys.executable} -IS\n"
    + """\
NANOSECONDS = {"NET2/64/actor": 10.0, "NET2/64/coroutine": 12.0}
OPTIONS = ("--loop", "--list", "--case", "--iterations", "--repetitions", "--min-time", "--json")
import json, sys, time
given = dict(each.partition("=")[::2] for each in sys.argv[1:])
for name in given:
    if name not in OPTIONS:
        sys.exit(f"unknown: {name}")
if given.get("--loop", "sim") not in ("sim", "real"):
    sys.exit("no such loop")
if "--list" in given:
    print("\\n".join(NANOSECONDS))
    sys.exit()
names = [given["--case"]]
results = [
    {"name": name, "run_type": "iteration", "cpu_time": NANOSECONDS[name], "real_time": 1.0, "time_unit": "ns",
     "iterations": int(given.get("--iterations", 1))}
    for name in names for _ in range(int(given.get("--repetitions", 1)))
]
with open(given["--json"], "w") as out:
    json.dump({"context": {}, "benchmarks": results}, out)
"""
)


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    # Else a mere `git status` writes the index.
    identity.append("--no-optional-locks")
    run = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def commit(root: Path, message: str) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", f"--message={message}")
    git(root, "tag", message)


def program(root: Path, *replacements: tuple[str, str]) -> None:
    text = PROGRAM
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    (root / "bench" / "bench.py").write_text(text)
    (root / "bench" / "bench.py").chmod(0o755)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its tags: empty, slow, more (one more benchmark), broken, twisted, planned, good."""
    folder = tmp_path_factory.mktemp("small")
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / ".gitignore").write_text("/build/\n")
    commit(folder, "empty")
    (folder / "bench").mkdir()
    (folder / "CMakePresets.json").write_text(json.dumps(PRESETS))
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "bench" / "CMakeLists.txt").write_text(BENCH_CMAKE)
    program(folder, ('coroutine": 12.0', 'coroutine": 15.0'))
    commit(folder, "slow")
    program(folder, ("12.0}", '12.0, "YIELD/64/actor": 2.0}'))
    commit(folder, "more")
    (folder / "bench" / "CMakeLists.txt").write_text(BENCH_CMAKE.replace("-E copy", "-E nonsense"))
    commit(folder, "broken")
    (folder / "bench" / "CMakeLists.txt").write_text("nonsense()\n")
    commit(folder, "twisted")
    (folder / "bench" / "CMakeLists.txt").write_text("# to come\n")
    commit(folder, "planned")
    (folder / "bench" / "CMakeLists.txt").write_text(BENCH_CMAKE)
    program(folder)
    commit(folder, "good")
    return folder


def state(root: Path) -> list[object]:
    """All that a compare must leave as it was, every file of .git included but the entries of its worktrees."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    own = (root / "build", root / ".git" / "worktrees")
    contents = [(path, path.read_bytes(), path.stat().st_mtime_ns) for path in files if not {*own} & {*path.parents}]
    return [contents, git(root, "status", "--porcelain"), git(root, "stash", "list")]


@pytest.fixture
def unchanged(root: Path) -> Iterator[None]:
    before = state(root)
    yield
    assert state(root) == before
    assert left_over(root) == []


def left_over(root: Path) -> list[str]:
    folder = root / "build" / "compare"
    return [
        path.name for path in folder.iterdir() if path.name != "lock" and not re.fullmatch("[0-9a-f]{12}", path.name)
    ]


def compare(root: Path, *arguments: str, rounds: int = 7) -> tuple[int, str]:
    out = io.StringIO()
    code = main([*arguments, f"--rounds={rounds}"], CONSOLE, Console(file=out, width=200), root)
    return code, out.getvalue()


def verdicts(text: str) -> dict[str, str]:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "/64/" in line]
    return {row[0]: row[-1] for row in rows if row}


SAME = "no difference"


@pytest.mark.usefixtures("unchanged")
def test_two_revisions(root: Path) -> None:
    code, text = compare(root, "slow", "good")
    assert code == 0
    assert verdicts(text) == {"NET2/64/actor": SAME, "NET2/64/coroutine": "faster"}
    assert "| NET2/64/coroutine |  15.0 |   15.0 |  12.0 |   12.0 | 0.800 | 0.800-0.800 | faster        |" in text
    assert "of 2 rows B is faster in 1; no difference in 1" in text
    assert f"A: slow: {git(root, 'rev-parse', '--short=12', 'slow')} slow; clang, sim loop" in text


@pytest.mark.usefixtures("unchanged")
def test_a_revision_beside_itself(root: Path) -> None:
    code, text = compare(root, "good", "HEAD:gcc")
    assert code == 0
    assert "the same program to the byte" in text
    assert "no difference in any of 2 rows" in text


def test_the_working_tree_as_it_is(root: Path) -> None:
    program(root, ('actor": 10.0', 'actor": 20.0'))
    (root / "bench" / "untracked").write_text("x")
    (root / "CMakeLists.txt").write_text(CMAKE + "# staged\n")
    git(root, "add", "CMakeLists.txt")
    before = state(root)
    try:
        code, text = compare(root, "HEAD")
        assert code == 0
        assert verdicts(text)["NET2/64/actor"] == "slower"
        assert " and changes); clang, sim loop" in text
        assert state(root) == before
    finally:
        (root / "bench" / "untracked").unlink()
        git(root, "reset", "--quiet", "--hard", "HEAD")


@pytest.mark.usefixtures("unchanged")
def test_a_slower_row_can_fail(root: Path) -> None:
    assert compare(root, "good", "slow", "--filter=coroutine", "--fail-above=30")[0] == 0
    code, text = compare(root, "good", "slow", "--filter=coroutine", "--fail-above=20")
    assert code == 1
    assert "slower by more than 20 %: NET2/64/coroutine" in text


@pytest.mark.usefixtures("unchanged")
def test_names_that_only_one_side_has_are_listed(root: Path) -> None:
    assert "only B has YIELD/64/actor" in compare(root, "good", "more", "--filter=actor")[1]
    assert "only" not in compare(root, "good", "more", "--filter=coroutine")[1]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("empty", "empty has no benchmarks: there is no bench/CMakeLists.txt"),
        ("planned", "planned has no benchmarks: there is no target millrace_bench"),
        ("broken", "broken does not build:\nFAILED: "),
        ("twisted", "twisted does not build:\nCMake Error at bench/CMakeLists.txt:1 (nonsense):"),
    ],
)
def test_what_does_not_build_says_its_first_error(root: Path, revision: str, message: str) -> None:
    with pytest.raises(Failure) as error:
        compare(root, "good", revision)
    assert str(error.value).startswith(message)
    assert len(str(error.value).splitlines()) < 40


@pytest.mark.usefixtures("unchanged")
def test_too_few_rounds_say_how_many_it_takes(root: Path) -> None:
    text = compare(root, "slow", "good", rounds=5)[1]
    assert "too few pairs to tell any difference from chance: 2 rows need --rounds 7" in text
    assert set(verdicts(text).values()) == {SAME}


@pytest.mark.usefixtures("unchanged")
def test_json_has_every_repetition(root: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    compare(root, "slow", "good", "--json", str(file), "--filter", "coroutine")
    document = json.loads(file.read_text())
    (row,) = document["rows"]
    assert (row["name"], row["verdict"], row["ratio"]) == ("NET2/64/coroutine", "faster", pytest.approx(0.8))
    assert row["repetitions"] == [[[15.0] * 5] * 7, [[12.0] * 5] * 7]
    assert (row["a"], row["b"]) == ([15.0] * 7, [12.0] * 7)
    assert document["about"][0].startswith("A: slow: ")


def recording(file: Path, nanoseconds: float) -> str:
    results = [{"name": "NET2/64/actor", "run_type": "iteration", "ns_per_item": nanoseconds + i} for i in range(9)]
    context = {"loop": "real", "compiler": "clang 19", "revision": "abc"}
    file.write_text(json.dumps({"context": context, "benchmarks": results}))
    return str(file)


def test_two_files_need_no_build(tmp_path: Path) -> None:
    files = [recording(tmp_path / name, ns) for name, ns in (("a.json", 1000), ("b.json", 900))]
    out = io.StringIO()
    assert main(files, CONSOLE, Console(file=out, width=200), tmp_path) == 0
    assert verdicts(out.getvalue()) == {"NET2/64/actor": "faster"}
    assert "measured before: abc, clang 19, real" in out.getvalue()
    assert "were not run in turn" in out.getvalue()
    assert not (tmp_path / "build").exists()


def test_files_about_different_benchmarks(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.json", "b.json")]
    recording(files[0], 1000)
    files[1].write_text(files[0].read_text().replace("NET2", "YIELD"))
    with pytest.raises(Failure, match="A and B have no benchmark in common"):
        main([str(file) for file in files], CONSOLE, CONSOLE, tmp_path)


@pytest.mark.usefixtures("unchanged")
def test_a_file_beside_a_revision(root: Path, tmp_path: Path) -> None:
    file = recording(tmp_path / "a.json", 1000)
    code, text = compare(root, file, "good")
    assert (code, verdicts(text)) == (0, {"NET2/64/actor": "faster"})
    assert "A and B ran on different loops: real and sim" in text
    assert "only B has NET2/64/coroutine" in text


def test_a_benchmark_that_fails_is_an_error_and_the_others_go_on(root: Path) -> None:
    program(root, ('"iterations": int', '"error_occurred": name == "NET2/64/actor", "error_message": "no", "n": int'))
    try:
        code, text = compare(root, "good", ".")
    finally:
        git(root, "reset", "--quiet", "--hard", "HEAD")
    assert code == 1
    assert "error: NET2/64/actor: no" in text
    assert verdicts(text) == {"NET2/64/coroutine": SAME}


def test_a_benchmark_that_dies_is_an_error_and_the_others_go_on(root: Path) -> None:
    program(root, ("results = [", "if 'NET2/64/actor' in names: import os; os.abort()\nresults = ["))
    try:
        code, text = compare(root, "good", ".")
    finally:
        git(root, "reset", "--quiet", "--hard", "HEAD")
    assert code == 1
    assert "error: NET2/64/actor: " in text
    assert ".: NET2/64/actor: killed by SIGABRT" in text
    assert verdicts(text) == {"NET2/64/coroutine": SAME}


def test_a_filter_that_fits_nothing_is_said_before_the_other_side_is_built(root: Path) -> None:
    with pytest.raises(UsageError, match="there is no benchmark 'NET3'; did you mean NET2"):
        compare(root, "good", "broken", "--filter=NET3")


def test_a_tree_is_kept_and_the_oldest_go(root: Path) -> None:
    store = Store(root)
    with store.locked(CONSOLE):
        tags = ("empty", "slow", "more", "good")
        commits = {tag: git(root, "rev-parse", tag) for tag in tags}
        trees = {tag: store.tree(commit) for tag, commit in commits.items()}
        mark = trees["slow"] / "mark"
        mark.write_text("kept")
        assert store.tree(commits["slow"]) == trees["slow"]
        store.prune(kept=2)
        assert {tag for tag, tree in trees.items() if tree.exists()} == {"slow", "good"}
        assert mark.exists()
    assert left_over(root) == []
    listed = git(root, "worktree", "list").splitlines()[1:]
    assert {line.split()[0] for line in listed} == {str(trees["slow"]), str(trees["good"])}


def test_what_a_killed_compare_left_is_removed(root: Path) -> None:
    store = Store(root)
    with store.locked(CONSOLE):
        pass
    ended = subprocess.Popen(["true"])
    ended.wait()
    unfinished = store.folder / f"{git(root, 'rev-parse', 'empty')[:12]}.unfinished"
    git(root, "worktree", "add", "--quiet", "--detach", str(unfinished), "slow")
    git(root, "worktree", "lock", str(unfinished))  # as git does while it writes a tree
    (store.folder / f"copies-{ended.pid}-x").mkdir()
    mine = store.folder / f"copies-{os.getpid()}-x"
    mine.mkdir()
    with store.locked(CONSOLE):
        assert left_over(root) == [mine.name]
        assert not (store.tree(git(root, "rev-parse", "empty")) / "bench").exists()
    mine.rmdir()


def test_where_a_tree_is_built_is_no_part_of_the_program(tmp_path: Path) -> None:
    root = tmp_path / "a longer name than that of the other tree, and blanks in it"
    (root / "bench").mkdir(parents=True)
    (root / ".gitignore").write_text("/build/\n")
    (root / "CMakePresets.json").write_text(json.dumps(PRESETS))
    (root / "CMakeLists.txt").write_text(CMAKE.replace("NONE", "CXX"))
    (root / "bench" / "CMakeLists.txt").write_text(
        "add_compile_options(-g)\nadd_executable(millrace_bench ${CMAKE_CURRENT_SOURCE_DIR}/main.cpp)\n"
    )
    (root / "bench" / "main.cpp").write_text("#include <cstdio>\nint main() { std::puts(__FILE__); }\n")
    git(root, "init", "--quiet")
    commit(root, "first")
    store = Store(root)
    sides = [parse_side(text, "clang", root) for text in (".", "HEAD")]
    with store.locked(CONSOLE):
        built = [build_program(side, "A", store, root, CONSOLE) for side in sides if isinstance(side, Build)]
    assert built[0] != built[1]
    assert built[0].read_bytes() == built[1].read_bytes()
    assert subprocess.run([built[1]], capture_output=True, text=True, check=True).stdout == "bench/main.cpp\n"


DRIVER = """\
import sys
from pathlib import Path
from rich.console import Console
from millrace.common.process import interrupt_on_terminate
from benchlib.compare.command import main
interrupt_on_terminate()
try:
    main(sys.argv[2:], Console(stderr=True), Console(), Path(sys.argv[1]))
except KeyboardInterrupt:
    sys.exit(130)
"""


def drive(root: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", DRIVER, str(root), *arguments]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(TOOLS)}, stderr=subprocess.PIPE)


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_children_and_leaves_nothing(root: Path, tmp_path: Path, number: int) -> None:
    begun = tmp_path / "begun"
    sleeps = f'import os; open({str(begun)!r}, "w").write(str(os.getpid())); time.sleep(600)\nnames ='
    program(root, ("names =", sleeps))
    try:
        running = drive(root, "HEAD", ".")
        wait_for(begun)
        running.send_signal(number)
        assert running.wait(60) == 130
        assert not Path("/proc", begun.read_text() or "none").exists()
        assert left_over(root) == []
    finally:
        git(root, "reset", "--quiet", "--hard", "HEAD")


def test_two_at_once(root: Path) -> None:
    running = [drive(root, "slow", "good", "--rounds=7", "--fail-above=1000") for _ in range(2)]
    said = [each.communicate(timeout=600)[1] for each in running]
    assert [each.returncode for each in running] == [0, 0], said
    assert left_over(root) == []
