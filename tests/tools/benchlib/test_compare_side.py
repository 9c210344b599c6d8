"""tools/bench compare: what its two words stand for."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from benchlib.compare.command import main
from benchlib.compare.presets import presets
from benchlib.compare.side import Build, Recorded, describe, parse_side
from millrace.bench.cpu import idle, least_busy
from millrace.bench.recorded import read
from millrace.bench.results import Name, parse_name
from millrace.bench.runs import order
from millrace.common.arguments import UsageError
from millrace.common.failure import Failure

PRESETS = {
    "configurePresets": [
        {"name": "base", "hidden": True},
        {"name": "clang", "inherits": "base"},
        {"name": "gcc", "inherits": ["base"]},
        {"name": "measured", "inherits": "clang"},
    ]
}


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    run = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sides")
    git(root, "init", "--quiet", "--initial-branch=main")
    (root / "CMakePresets.json").write_text(json.dumps(PRESETS))
    git(root, "add", ".")
    for text in ("first", "second: with a body\n\nof two lines"):
        git(root, "commit", "--quiet", "--allow-empty", f"--message={text}")
    git(root, "tag", "v1.0", "HEAD~1")
    git(root, "branch", "faster-timers")
    return root


@pytest.mark.parametrize(
    ("text", "revision", "preset"),
    [
        (".", None, "clang"),
        ("", None, "clang"),
        ("gcc", None, "gcc"),
        (".:gcc", None, "gcc"),
        (":gcc", None, "gcc"),
        ("measured", None, "measured"),
        ("HEAD", "HEAD", "clang"),
        ("HEAD~1:gcc", "HEAD~1", "gcc"),
        ("HEAD:", "HEAD", "clang"),
        ("v1.0", "HEAD~1", "clang"),
        ("faster-timers:measured", "HEAD", "measured"),
    ],
)
def test_what_is_built(repository: Path, text: str, revision: str | None, preset: str) -> None:
    commit = git(repository, "rev-parse", revision) if revision else None
    assert parse_side(text, "clang", repository) == Build(text or ".", commit, preset)


def test_a_hash_and_its_beginning(repository: Path) -> None:
    full = git(repository, "rev-parse", "HEAD")
    for text in (full, full[:8]):
        assert parse_side(text, "gcc", repository) == Build(text, full, "gcc")


def test_what_was_measured_before(repository: Path, tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text("{}")
    assert parse_side(str(file), "clang", repository) == Recorded(str(file), file, None)
    assert parse_side(f"{file}:gcc", "clang", repository) == Recorded(f"{file}:gcc", file, "gcc")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mian", "there is no revision or preset 'mian'; did you mean main?"),
        ("faster-timer", "there is no revision or preset 'faster-timer'; did you mean faster-timers?"),
        ("v1.1", "there is no revision or preset 'v1.1'; did you mean v1.0?"),
        ("clangg", "there is no revision or preset 'clangg'; did you mean clang"),
        ("HEAD:gc", "there is no preset 'gc'; did you mean gcc"),
        ("0123456789", "there is no revision or preset '0123456789'; try HEAD, "),
        ("HEAD~7", "there is no revision or preset 'HEAD~7'; did you mean HEAD?"),
        ("--all", "there is no revision or preset '--all'"),
        ("base", "there is no revision or preset 'base'"),
    ],
)
def test_what_there_is_not_gets_the_nearest(repository: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_side(text, "clang", repository)
    assert str(error.value).startswith(message)


def test_a_file_that_there_is_not_gets_the_nearest_in_its_folder(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text("{}")
    with pytest.raises(UsageError, match=r"did you mean .*/before\.json\?"):
        parse_side(str(tmp_path / "befor.json"), "clang", repository)


def test_of_a_file_that_nothing_resembles_it_is_said_that_there_is_none(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakePresets.json").write_text("{}")
    with pytest.raises(UsageError) as error:
        parse_side(str(tmp_path / "n.json"), "clang", repository)
    assert str(error.value) == f"there is no file '{tmp_path / 'n.json'}'"


def test_words_of_a_message_are_a_revision(repository: Path) -> None:
    full = git(repository, "rev-parse", "HEAD")
    assert parse_side(":/second: with", "clang", repository) == Build(":/second: with", full, "clang")
    assert parse_side(":/second:gcc", "clang", repository) == Build(":/second:gcc", full, "gcc")


def test_an_ambiguous_hash_has_its_candidates_said(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "CMakePresets.json").write_text(json.dumps(PRESETS))
    commits = "".join(
        f"commit refs/heads/main\ncommitter a <a@b> {number} +0000\ndata <<E\nnumber {number}\nE\n"
        for number in range(1500)
    )
    subprocess.run(["git", "fast-import", "--quiet"], cwd=tmp_path, input=commits, text=True, check=True)
    beginnings = [line[:4] for line in git(tmp_path, "log", "--format=%H").splitlines()]
    twice = next(each for each in beginnings if beginnings.count(each) > 1)
    with pytest.raises(UsageError, match=f"(?s){twice} is ambiguous.* number [0-9]+.* number [0-9]+"):
        parse_side(twice, "clang", tmp_path)


def test_without_a_repository_there_are_no_revisions(tmp_path: Path) -> None:
    (tmp_path / "CMakePresets.json").write_text(json.dumps(PRESETS))
    assert parse_side("gcc", "clang", tmp_path) == Build("gcc", None, "gcc")
    with pytest.raises(Failure, match="is no git repository"):
        parse_side("HEAD", "clang", tmp_path)


def test_hidden_presets_are_not_offered(repository: Path) -> None:
    assert presets(repository) == ["clang", "gcc", "measured"]


def test_presets_of_the_user_count(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakePresets.json").write_text(json.dumps(PRESETS))
    own = {"configurePresets": [{"name": "mine", "inherits": "clang"}]}
    (tmp_path / "CMakeUserPresets.json").write_text(json.dumps(own))
    assert "mine" in presets(tmp_path)


def test_a_side_is_described_by_its_commit(repository: Path) -> None:
    short = git(repository, "rev-parse", "--short=12", "HEAD")
    assert describe(parse_side("HEAD", "clang", repository), repository) == f"{short} second: with a body"
    assert describe(Build(".", None, "clang"), repository) == f"the working tree ({short})"


def result(name: str, ns: float) -> dict[str, object]:
    return {"name": name, "run_name": name, "run_type": "iteration", "ns_per_item": ns}


def write(file: Path, *results: dict[str, object]) -> Recorded:
    file.write_text(json.dumps({"context": {"loop": "sim"}, "benchmarks": results}))
    return Recorded(str(file), file, None)


def test_reading_what_was_measured(tmp_path: Path) -> None:
    aggregate = result("NET2/64/actor", 1) | {"run_type": "aggregate"}
    failed = result("YIELD/64/actor", 1) | {"error_occurred": True}
    side = write(tmp_path / "x.json", result("NET2/64/actor", 8), aggregate, result("NET2/64/actor", 9), failed)
    assert read(side).repetitions == {Name("NET2", 64, "actor"): [8, 9]}


def test_of_two_compilers_one_must_be_named(tmp_path: Path) -> None:
    names = [f"NET2/64/actor/compiler:{compiler}" for compiler in ("clang", "gcc")]
    side = write(tmp_path / "x.json", result(names[0], 8), result(names[1], 9))
    with pytest.raises(UsageError, match=r"more than one compiler: write .*x\.json:clang"):
        read(side)
    assert read(Recorded("", side.file, "gcc")).repetitions == {Name("NET2", 64, "actor"): [9]}
    with pytest.raises(UsageError, match="there is no compiler 'gc'; did you mean gcc"):
        read(Recorded("", side.file, "gc"))
    one = write(tmp_path / "y.json", result("NET2/64/actor", 8))
    with pytest.raises(UsageError, match="leave out ':gcc'"):
        read(Recorded("", one.file, "gcc"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value: line 1"),
        ("[]", "list indices"),
        ("{}", "'context' is missing"),
        ('{"context": {}, "benchmarks": [1]}', "'int' object"),
        ('{"context": 1}', "'int' object"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=rf"x\.json is not what --json writes \({said}"):
        read(Recorded("", file, None))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cpu_time": "x"}, "'x'"),
        ({"cpu_time": float("nan")}, "NET2/64/actor cannot take nan ns"),
        ({"cpu_time": -1.5}, "cannot take -"),
        ({"cpu_time": 0}, "cannot take 0.0 ns"),
        ({"cpu_time": 1e300}, "cannot take "),
        ({"ns_per_item": float("inf")}, "cannot take inf ns"),
        ({"items_per_op": 0}, "division"),
        ({"time_unit": "fortnight"}, "'fortnight' is missing or unknown"),
        ({"time_unit": []}, "list"),
    ],
)
def test_a_time_that_cannot_be_is_named_with_the_file(tmp_path: Path, fields: dict[str, object], said: str) -> None:
    good = {"name": "NET2/64/actor", "cpu_time": 5, "time_unit": "ns", "items_per_op": 64}
    side = write(tmp_path / "x.json", good, good | fields)
    with pytest.raises(UsageError, match=rf"x\.json is not what --json writes \(.*{said}"):
        read(side)


def test_brackets_without_end_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[" * 200_000)
    with pytest.raises(UsageError, match="too many brackets"):
        read(Recorded("", tmp_path / "x.json", None))


def test_each_round_has_a_pair_of_each_and_each_side_is_first_in_half_of_them() -> None:
    names = [parse_name(f"NET2/{size}/actor") for size in (1, 8, 64)]
    rounds = list(order(names, 10))
    assert [sorted(name.size or 0 for name, _ in pairs) for pairs in rounds] == [[1, 8, 64]] * 10
    for name in names:
        firsts = [first for pairs in rounds for other, first in pairs if other == name]
        assert firsts.count(0) == 5
        assert firsts not in ([0, 1] * 5, [1, 0] * 5)  # drawn: nothing that comes and goes can keep in step
    assert rounds == list(order(names, 10))
    assert rounds != list(order(names, 10, seed=2))


def test_the_idle_time_of_processors() -> None:
    stat = "cpu  9 9 9 9 9 9\ncpu0 100 0 10 700 20 0\ncpu13 1 2 3 40 5 6\nintr 3 4\n"
    assert idle(stat) == {0: 720, 13: 45}


def test_the_least_busy_is_one_that_we_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {1})
    assert least_busy() == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["HEAD", "--rounds", "0"], "--rounds must be at least 1"),
        (["HEAD", "--fail-above", "-1"], "--fail-above must be at least 0"),
        (["HEAD", "--filter", "("], "is no regular expression"),
        (["HEAD", "--json", "/nowhere/x.json"], "cannot write /nowhere/x.json"),
        ([], "A"),
        (["a", "b", "c"], "unrecognized arguments: c"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as error:
        main(arguments, Console(), Console())
    assert message in str(error.value)
