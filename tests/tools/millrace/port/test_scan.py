"""millrace port on a small code base."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from common.tree import ROOT
from millrace.port.own import OwnHeaders
from millrace.port.scan import names_in, scan, without_comments
from millrace.port.vocabulary import Header, Vocabulary

TABLE = Vocabulary(
    headers={
        "flow/flow.h": Header("flow/flow.h", ("Future", "delay", "format", "coro::ignore"), {"SAV": "a Promise"}, None),
        "flow/Old.h": Header("flow/Old.h", (), {"Old": "New", "Future::tally": "count()"}, "flow/New.h"),
    },
    errors=frozenset({"timed_out"}),
    knobs=frozenset({"RATE"}),
    priorities=frozenset({"Low"}),
    database=frozenset({"Version", "Key", "Tag"}),
    database_errors=frozenset({"not_committed", "future_version"}),
)
FILES = {
    "server.actor.cpp": """\
#include "flow/flow.h"
#include "flow/Old.h"
#include <vector>
// A SAV in a comment, and "
ACTOR Future<Void> serve(Future<int> f) {
    printf("SAV /* Old");
    wait(delay(1.0));
    if (e.code() == error_code_timed_out || e.code() == error_code_made_up) throw;
    return f->tally() + Old::one + FLOW_KNOBS->RATE;
}
""",
    "lib/plain.h": "std::format(x); a.delay(1); coro::ignore(f); flow::delay(2); fine::SAV; auto c = 'x';\n",
    "lib/own.cpp": '#include "lib/plain.h"\nint main() { return 1\'000; }\n',
    "lib/forward.h": "class Void; template <class T> class Future;\n",
    "forward.actor.h": "template <class T> class Future;\n",
    "build/made.cpp": "SAV\n",
    "server.actor.g.cpp": "SAV\n",
    "notes.txt": "SAV\n",
}


@pytest.fixture
def code(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_counts(code: Path) -> None:
    result = scan(code, TABLE)
    assert result.files == ["forward.actor.h", "lib/forward.h", "lib/own.cpp", "lib/plain.h", "server.actor.cpp"]
    assert {name: use.uses for name, use in result.names.items()} == {
        "Future": 4,
        "delay": 2,
        "coro::ignore": 1,
        "Old": 1,
        "Future::tally": 1,
        "error_code_timed_out": 1,
        "error_code_made_up": 1,
    }
    assert result.names["delay"].files == {"lib/plain.h", "server.actor.cpp"}
    assert result.names["delay"].advice is None
    assert result.names["Old"].advice == "New"
    assert result.names["error_code_timed_out"].advice is None
    assert result.names["error_code_made_up"].advice is not None
    assert result.headers["flow/flow.h"].advice is None
    assert result.headers["flow/Old.h"].advice == "flow/New.h"
    assert {name: use.files for name, use in result.forward.items()} == {
        "Future": {"lib/forward.h"},
        "Void": {"lib/forward.h"},
    }
    assert result.using() == {"forward.actor.h", "lib/forward.h", "lib/plain.h", "server.actor.cpp"}
    assert result.needing() == {"server.actor.cpp"}


def test_a_name_of_the_code_bases_own_is_none_of_flows(code: Path) -> None:
    (code / "own.h").write_text("template <class T>\nstruct Old : Base<T> { int x; };\n#define SAV 1\n", "utf-8")
    assert not {"Old", "SAV"} & scan(code, TABLE).names.keys()


def test_a_header_of_the_code_bases_own_is_none_of_flows(code: Path) -> None:
    (code / "flow").mkdir()
    (code / "flow" / "Old.h").write_text("", encoding="utf-8")
    assert scan(code, TABLE).headers.keys() == {"flow/flow.h"}


def test_a_header_of_this_project_is_here() -> None:
    assert TABLE.advice_for_header("flow/sim.h") is None
    assert TABLE.advice_for_header("flow/stacktrace.h") is not None
    assert TABLE.advice_for_header("flow/NoSuch.h") is not None


DATABASE = """\
#include "fdbclient/FDBTypes.h"
typedef int Tag;
Version next(Key key, Tag tag) {
    if (e.code() == error_code_not_committed) throw future_version();
    other.timed_out(); x::timed_out(); other->not_committed();
    throw timed_out();
}
"""


def test_names_of_the_database_are_none_of_flows(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(DATABASE, "utf-8")
    result = scan(tmp_path, TABLE)
    names = {"fdbclient/FDBTypes.h", "Version", "Key", "error_code_not_committed", "future_version()"}
    assert {name: use.uses for name, use in result.database.items()} == dict.fromkeys(names, 1)
    assert {name: use.advice for name, use in result.names.items()} == {"timed_out()": None}
    assert result.needing() == {"a.cpp"}  # it does not compile without them


def test_errors_that_the_code_base_defines_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(DATABASE, "utf-8")
    errors = 'ERROR( not_committed, 1020, "x" )\nError future_version() { return x; }\n'
    (tmp_path / "errors.h").write_text(errors, "utf-8")
    assert not {"future_version()", "error_code_not_committed"} & scan(tmp_path, TABLE).database.keys()
    (tmp_path / "b.cpp").write_text("Error own_one(); p.sendError(one_more()); q.sendError(own_one());", "utf-8")
    result = scan(tmp_path, TABLE)
    assert result.names["one_more()"].files == {"b.cpp"}
    assert result.needing() == {"a.cpp", "b.cpp"}


def test_headers_that_the_code_base_makes_are_its_own(tmp_path: Path) -> None:
    made = ("flow/Made.h", "flow/Version.h", "flow/Server.actor.g.h", "flow/Moved.h", "flow/Old.h", "flow/Lost.h")
    (tmp_path / "a.cpp").write_text("".join(f'#include "{each}"\n' for each in made), "utf-8")
    (tmp_path / "CMakeLists.txt").write_text("configure_file(x ${DIR}/flow/Made.h)\npch(flow/Old.h)\n", "utf-8")
    (tmp_path / "include" / "flow").mkdir(parents=True)
    (tmp_path / "lib" / "include" / "flow").mkdir(parents=True)
    for name in ("include/flow/Version.h.in", "include/flow/Server.actor.h", "lib/include/flow/Moved.h"):
        (tmp_path / name).write_text("", "utf-8")
    assert scan(tmp_path, TABLE).headers.keys() == {"flow/Old.h", "flow/Lost.h"}
    headers = OwnHeaders(tmp_path, {"flow/Old.h"})
    assert [each for each in made if headers.is_made(each)] == [*made[:3]]


def test_common_names_are_of_the_database_only_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(DATABASE.partition("\n")[2], "utf-8")
    assert scan(tmp_path, TABLE).database.keys() == {"error_code_not_committed", "future_version()"}


def test_literals_are_no_code() -> None:
    assert without_comments('a R"x(" b)x" c // d\n"e\\"f" g\n/* h\n*/ i 1\'000').split() == [*"acgi", "1'000"]
    assert list(names_in("x::Future<int>::delay; ::Future", TABLE.advice_by_name())) == ["Future"]


def port(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "millrace", "port", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


def test_a_closed_pipe_is_no_error() -> None:
    command = [sys.executable, ROOT / "tools" / "millrace", "port", "--headers"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert done.stderr == ""


def test_the_tool_prints_text(code: Path) -> None:
    done = port("--scan", code)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].startswith("read with clang: 0 files; by their names")
    assert lines[2] == "    3 files: no source that clang has read includes it"
    assert lines[0] == (
        f"{code}: 5 C++ files, of which 4 use Flow: 3 have all that they need, 1 need something that is not here"
    )
    assert "headers: 1 here, 1 missing" in lines
    assert any("1 file,    1 use   flow/Old.h" in line for line in lines)
    assert "1 file,    1 use   Void" in lines[-1]
    assert "  1 file,    3 uses  Future" not in done.stdout
    assert "3 files,    4 uses  Future" in port("--scan", code, "--all").stdout


def test_the_tool_prints_json(code: Path) -> None:
    (code / "committer.cpp").write_text("auto error = not_committed();", "utf-8")
    assert "the database: 1 of its headers" in port("--scan", code).stdout
    assert "1 use   not_committed()" in port("--scan", code, "--all").stdout
    content = json.loads(port("--scan", code, "--json").stdout)
    assert content["files"] == {"all": 6, "use_flow": 5, "need_something": ["committer.cpp", "server.actor.cpp"]}
    assert content["database"].keys() == {"not_committed()"}
    future = content["names"]["Future"]
    assert future == {
        "here": True,
        "instead": None,
        "uses": 4,
        "files": ["forward.actor.h", "lib/forward.h", "server.actor.cpp"],
    }
    assert content["headers"]["flow/Old.h"]["here"] is False


def test_mistakes_in_the_arguments(tmp_path: Path) -> None:
    missing = port("--scan", tmp_path / "nowhere")
    assert (missing.returncode, missing.stderr) == (2, f"millrace port: there is no folder {tmp_path / 'nowhere'}\n")
    assert port().returncode == 2
    assert port("--nonsense").stderr.startswith("millrace port: unrecognized arguments: --nonsense")


PRIORITIES = """\
enum class TaskPriority;
Error own_error() { return Error(10000); }
void f(TaskPriority p) {
    if (p == TaskPriority::Low) throw own_error();
    if (p == TaskPriority::TLogCommit) throw all_alternatives_failed();
    throw plain();
}
"""


def test_priorities_and_errors_that_are_thrown_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(PRIORITIES, "utf-8")
    table = replace(TABLE, headers={"flow/network.h": Header("flow/network.h", ("TaskPriority",), {}, None)})
    found = {name: use.advice is None for name, use in scan(tmp_path, table).names.items()}
    assert found == {
        "TaskPriority": True,
        "TaskPriority::Low": True,
        "TaskPriority::TLogCommit": False,
        "all_alternatives_failed()": False,
    }


def test_what_cannot_be_read_is_named_and_the_rest_is_counted(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root, which may read everything, reading has to be made to fail."""
    read_text, iterdir = Path.read_text, Path.iterdir
    (code / "closed").mkdir()

    def read(path: Path, *arguments: str) -> str:
        if path.name == "own.cpp":
            raise PermissionError(13, "Permission denied")
        return read_text(path, *arguments)

    def listed(path: Path) -> Iterator[Path]:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied")
        return iterdir(path)

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(Path, "iterdir", listed)
    result = scan(code, TABLE)
    assert result.unread == {str(code / name): "Permission denied" for name in ("closed", "lib/own.cpp")}
    assert "server.actor.cpp" in result.files and "lib/own.cpp" not in result.files
