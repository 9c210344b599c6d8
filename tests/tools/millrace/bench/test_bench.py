"""millrace bench, with programs that are scripts and take as long as they are told."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from millrace.bench.arguments import parser
from millrace.bench.command import main
from millrace.bench.results import Cell, Row, errors, noise
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

PROGRAM = f"""#!{sys.executable} -IS
import json, sys
NANOSECONDS = {{"/queue/push": 10.0, "/queue/fill/10": 30.0}}
names = [word[7:] for word in sys.argv if word.startswith("--case=")]
given = dict(word.partition("=")[::2] for word in sys.argv[1:])
if "--list" in given:
    print("/queue/push\\n/queue/fill/10\\n/threads\\tthreads")
    sys.exit()
results = []
for name in names:
    for i in range(int(given["--repetitions"])):
        print(f"running {{name}}, 1 iterations")
        one = {{"name": name, "run_name": name, "run_type": "iteration", "cpu_time": NANOSECONDS.get(name, 5.0)}}
        one |= {{"real_time": 1.0, "time_unit": "ns", "allocs_per_item": 2, "steps_per_item": 1}}
        results.append(one)
with open(given["--json"], "w") as out:
    json.dump({{"context": {{"compiler": "clang 19", "loop": "sim"}}, "benchmarks": results}}, out)
"""


def write(file: Path, push: float = 10.0) -> Path:
    file.write_text(PROGRAM.replace('push": 10.0', f'push": {push}'), encoding="utf-8")
    file.chmod(0o755)
    return file


def bench(*words: str | Path) -> tuple[int, str]:
    out = io.StringIO()
    console = Console(file=out, width=200, color_system=None)
    code = main(parser().parse_args(list(map(str, words))), Console(file=io.StringIO()), console)
    return code, "\n".join(" ".join(line.replace("|", " ").split()) for line in out.getvalue().splitlines())


def test_run_prints_a_line_for_each_benchmark_and_writes_a_file(tmp_path: Path) -> None:
    program, file = write(tmp_path / "a"), tmp_path / "a.json"
    code, text = bench("run", program, "queue", "--repetitions", "2", "--json", file)
    assert code == 0
    assert "/queue/push 10.0 10.0 2 1\n" in text
    assert "/queue/fill/10 30.0 30.0 2 1\n" in text
    assert "/threads" not in text
    assert len(json.loads(file.read_text())["benchmarks"]) == 4


def test_two_programs_are_compared_and_a_limit_fails(tmp_path: Path) -> None:
    programs = write(tmp_path / "a"), write(tmp_path / "b", push=12)
    words = ("compare", *programs, "--filter", "push", "--rounds", "7")
    code, text = bench(*words)
    assert code == 0
    assert "/queue/push 10.0 10.0 12.0 12.0 1.200 1.200-1.200 slower" in text
    assert bench(*words, "--fail-above", "25")[0] == 0
    assert bench(*words, "--fail-above", "15")[0] == 1


def test_a_file_is_compared_with_a_program(tmp_path: Path) -> None:
    program, file = write(tmp_path / "a"), tmp_path / "a.json"
    bench("run", program, "--repetitions", "9", "--json", file)
    code, text = bench("compare", file, write(tmp_path / "b", push=8), "--rounds", "9")
    assert code == 0
    assert "measured before: clang 19, sim" in text
    assert "faster" in next(line for line in text.splitlines() if line.startswith("/queue/push"))


def test_revisions_are_built_by_the_command_and_the_tree_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet", "--initial-branch=main")
    for push in (10, 20):
        write(tmp_path / "source", push=push)
        git("add", "source")
        git("commit", "--quiet", "--message=x")
    monkeypatch.chdir(tmp_path)
    words = ("compare", "HEAD~1", "HEAD", "--program", "built/bench", "--rounds", "7")
    build = "mkdir built && cp source built/bench"
    code, text = bench(*words, "--build", build)
    assert code == 0
    assert "/queue/push 10.0 10.0 20.0 20.0 2.000" in text
    assert git("status", "--porcelain") == ""
    assert len(git("worktree", "list").splitlines()) == 1
    with pytest.raises(Failure, match="cp nothing"):
        bench(*words, "--build", "cp nothing x")
    with pytest.raises(Failure, match=r"git worktree: .*nowhere"):
        bench("compare", "nowhere", "HEAD", "--program", "built/bench", "--build", build)
    assert len(git("worktree", "list").splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nowhere"], "there is no program nowhere"),
        (["run", "nowhere", "("], "is no regular expression"),
        (["run", "/bin/true"], "/bin/true is no program of benchmarks of Millrace: its --list names none"),
        (["compare", "a", "b", "--build", "make"], "--build COMMAND and --program PATH belong together"),
        (["compare", "nowhere", "b"], "'nowhere' is no program and no file of results; a revision needs --build"),
        (["compare", "nowhere.json", "b"], "there is no file 'nowhere.json'"),
        (["compare", "a", "b", "--rounds", "0"], "--rounds must be at least 1"),
        (["profile", "nowhere", "--seconds", "0"], "--seconds must be more than 0"),
    ],
)
def test_mistakes(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        bench(*words)
    assert message in str(error.value)


def test_a_benchmark_that_is_not_there_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no benchmark '/queue/posh'; did you mean /queue/push"):
        bench("run", write(tmp_path / "a"), "/queue/posh")


def test_a_benchmark_without_a_style_keeps_its_name() -> None:
    cells = {"": Cell([1.0, 2.0], error="because")}
    rows = [Row("/fails", None, cells), Row("NET2", 64, {"actor": Cell(error="broken")})]
    assert errors(rows) == ["/fails: because", "NET2/64/actor: broken"]
    assert noise(rows).endswith("(/fails)")
