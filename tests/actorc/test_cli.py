"""The command line, with a stand-in for the emitters."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

import actorc
from actorc.__main__ import main
from actorc.source import Source
from actorc.syntax import File

GOOD = "int x;\r\nACTOR Future<Void> a(Future<Void> f) { wait(f); return Void(); }\r\n"
BAD = "ACTOR Future<Void> a(Future<Void> f) { if (wait(f)) g(); return Void(); }\n"
IDLE = "ACTOR Future<Void> a() { return Void(); }\n"


def emit(file: File, source: Source, backend: str, output_path: str, *, nodiscard: bool, probes: bool) -> str:
    if "FAULT" in source.text:
        raise KeyError("a bug")
    return f"{backend} {len(file.actors)}\n{source.text}"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    module = types.ModuleType("actorc.emit.emit")
    module.emit = emit  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "actorc.emit.emit", module)
    monkeypatch.setattr(actorc, "emit", module, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(folder: Path, text: str | bytes, *options: str) -> int:
    (folder / "in.actor.cpp").write_bytes(text if isinstance(text, bytes) else text.encode())
    return main(["in.actor.cpp", "out.g.cpp", *options])


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_success_writes_the_output_and_the_identifiers(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(stub, GOOD) == 0
    assert (stub / "out.g.cpp").read_bytes() == b"state-machine 1\n" + GOOD.encode()
    assert names(stub) == {"in.actor.cpp", "out.g.cpp", "out.g.cpp.uid"}
    assert capsys.readouterr() == ("", "")


def test_the_output_is_read_only_and_can_be_made_again(stub: Path) -> None:
    umask = os.umask(0o027)
    try:
        for _ in range(2):
            assert run(stub, GOOD) == 0
            assert (stub / "out.g.cpp").stat().st_mode & 0o777 == 0o440
    finally:
        os.umask(umask)


def test_identifiers(stub: Path) -> None:
    """Computed by hand: the SHA-256 of `in.actor.cpp:a` begins with 8fd6489480e0acfa3a23f377496e9387."""
    declared = "ACTOR Future<Void> b(int x);\n"
    assert run(stub, GOOD + declared) == 0
    assert (stub / "out.g.cpp.uid").read_text() == "15440754603685902848|2590545367939647232|in.actor.cpp:a\n"


def test_the_backend_is_passed_on(stub: Path) -> None:
    assert run(stub, GOOD, "--backend", "coroutine") == 0
    assert (stub / "out.g.cpp").read_text().startswith("coroutine 1")


def test_errors_exit_with_1_and_remove_a_stale_output(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stub / "out.g.cpp").write_text("stale")
    (stub / "out.g.cpp.uid").write_text("stale")
    assert run(stub, BAD, "--depfile", "out.d") == 1
    assert names(stub) == {"in.actor.cpp"}
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("in.actor.cpp:1:44: error: `wait` cannot stand in a condition")


def test_bytes_that_are_not_utf8_are_reported_at_their_place(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(stub, b"// ok\n// caf\xe9\n" + GOOD.encode()) == 1
    assert capsys.readouterr().err.startswith("in.actor.cpp:2:7: error: the byte 0xE9 is not UTF-8 [A0001]")


@pytest.mark.parametrize(("options", "printed"), [([], True), (["--disable-diagnostics"], False)])
def test_warnings(stub: Path, capsys: pytest.CaptureFixture[str], options: list[str], printed: bool) -> None:
    assert run(stub, IDLE, *options) == 0
    assert ("warning: actor `a` does not contain a wait" in capsys.readouterr().err) == printed


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["in.actor.cpp"],
        ["a", "b", "c"],
        ["a", "b", "--backend", "none"],
        ["a", "b", "--generate-probes", "--backend", "coroutine"],
        ["--none"],
        ["a", "./a"],
        ["a", "b", "--depfile", "./b"],
        ["a", "b", "--depfile", "b.uid"],
        ["a", "b", "--depfile", "a"],
        ["a", "b", "--jobs", "2"],
        ["a", "-", "--depfile", "d"],
        ["-", "b", "--depfile", "d"],
        ["a", "b", "--depfile", "-"],
        ["a", "-", "--generate-probes"],
        ["-", "b", "--generate-probes"],
        ["a", "/dev/stdout", "--depfile", "d"],
        ["a", "-", "--json"],
        ["--batch", "a", "-"],
        ["--frames", "-"],
    ],
)
def test_wrong_arguments_exit_with_100(stub: Path, capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(argv)
    assert exit_.value.code == 100
    assert capsys.readouterr().err.startswith("usage: actorc")


def test_an_internal_fault_exits_with_3_and_one_place(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stub / "out.g.cpp").write_text("stale")
    assert run(stub, GOOD + "// FAULT") == 3
    assert names(stub) == {"in.actor.cpp"}
    err = capsys.readouterr().err
    assert "internal error at test_cli.py:" in err
    assert "this is a bug in actorc, not in your source; please report it" in err
    assert "Traceback" not in err


def test_a_fault_that_concerns_no_file_exits_with_3_too(tmp_path: Path) -> None:
    program = "import actorc.__main__ as program; program.main = lambda: {}['gone']; program.command()"
    line = [sys.executable, "-c", program, "x"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "internal error at <string>:1: KeyError" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_traceback_on_request(
    stub: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTORC_TRACEBACK", "1")
    assert run(stub, GOOD + "// FAULT") == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_input_that_cannot_be_read(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["none.actor.cpp", "out.g.cpp"]) == 1
    assert capsys.readouterr().err == "actorc: none.actor.cpp: No such file or directory\n"
    assert main([".", "out.g.cpp"]) == 1


def test_an_output_that_cannot_be_written(stub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (stub / "in.actor.cpp").write_text(GOOD)
    assert main(["in.actor.cpp", "no/out.g.cpp"]) == 1
    assert capsys.readouterr().err == "actorc: no/out.g.cpp: the folder does not exist\n"


def test_the_depfile_names_the_source_and_the_compiler(stub: Path) -> None:
    (stub / "in a$.actor.cpp").write_text(GOOD)
    assert main(["in a$.actor.cpp", "out b.g.cpp", "--depfile", "out.d"]) == 0
    text = (stub / "out.d").read_text()
    assert text.startswith("out\\ b.g.cpp: in\\ a$$.actor.cpp \\\n")
    needed = text.replace("\\\n", " ").split()
    assert {"lexer.py", "parser.py", "__main__.py"} <= {os.path.basename(path) for path in needed}


def test_it_runs_as_a_module(tmp_path: Path) -> None:
    package = Path(actorc.__file__).parent.parent
    (tmp_path / "in.actor.cpp").write_text(BAD)
    command = [sys.executable, "-m", "actorc", "in.actor.cpp", "out.cpp"]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("in.actor.cpp:1:44: error:")


def test_an_output_that_is_a_link_or_a_pipe_stays_one(tmp_path: Path) -> None:
    source = tmp_path / "a.actor.cpp"
    source.write_text("int x;\n")
    (tmp_path / "link.cpp").symlink_to(tmp_path / "real.cpp")
    assert main([str(source), str(tmp_path / "link.cpp")]) == 0
    assert (tmp_path / "link.cpp").is_symlink()
    assert "int x;" in (tmp_path / "real.cpp").read_text()

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert main([str(source), str(pipe)]) == 0
        assert b"int x;" in os.read(reader, 65536)
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert not (tmp_path / "pipe.uid").exists()


PRINTING = pytest.mark.parametrize(
    "arguments",
    [["--explain", "A0401"], ["--explain"], ["--help"], ["--version"], ["--format=json", "in.actor.cpp", "out.cpp"]],
)
PROGRAM = [sys.executable, "-S", str(Path(actorc.__file__).parent.parent)]


@PRINTING
@pytest.mark.parametrize(("where", "said"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")])
def test_what_cannot_be_printed(tmp_path: Path, arguments: list[str], where: str, said: str) -> None:
    (tmp_path / "in.actor.cpp").write_text(GOOD)
    command = f"{shlex.join([*PROGRAM, *arguments])} {where}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"actorc: the output cannot be written: {said}\n"


@PRINTING
def test_what_nobody_reads(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "in.actor.cpp").write_text(GOOD)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_messages_that_cannot_be_printed(tmp_path: Path, where: str) -> None:
    (tmp_path / "in.actor.cpp").write_text(BAD)
    command = shlex.join([*PROGRAM, "in.actor.cpp", "out.cpp"])
    done = subprocess.run(["bash", "-c", f"{command} 2{where}"], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, list(tmp_path.glob("out*"))) == (1, b"", [])


def piped(folder: Path, words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Runs `actorc WORDS` in a shell, with a text as its standard input."""
    command = f"{shlex.join(PROGRAM)} {words}"
    return subprocess.run(["bash", "-c", command], cwd=folder, input=text, capture_output=True, text=True, check=False)


def test_standard_input_and_output(tmp_path: Path) -> None:
    (tmp_path / "in.actor.cpp").write_text(GOOD, newline="")
    done = piped(tmp_path, "in.actor.cpp out.cpp && cat out.cpp")
    written = done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    named = written.replace('"in.actor.cpp"', '"<stdin>"')
    for words, expected in (
        ("in.actor.cpp -", written),
        ("in.actor.cpp /dev/stdout", written),
        ("- -", named),
        ("- - | cat", named),
        ("/dev/stdin /dev/stdout | cat", named),
        ("- piped.cpp && cat piped.cpp", named),
        ("- - > shell.cpp && cat shell.cpp", named),
        ("- /dev/stdout > shell.cpp && test -w shell.cpp && cat shell.cpp", named),
        ("- /dev/fd/3 3> shell.cpp && test -w shell.cpp && cat shell.cpp", named),
        ("- /dev/stdout 3> shell.cpp 1>&3 && cat shell.cpp", named),
        ("- /dev/stdout >> appended.cpp && cat appended.cpp", named),
        ("- /dev/null && echo", "\n"),
    ):
        done = piped(tmp_path, words, GOOD)
        assert (words, done.returncode, done.stderr, done.stdout) == (words, 0, "", expected)
    assert '#line 1 "<stdin>"' in named
    files = {"in.actor.cpp", "out.cpp", "out.cpp.uid", "piped.cpp", "piped.cpp.uid", "shell.cpp", "appended.cpp"}
    assert names(tmp_path) == files


def test_a_header_from_standard_output_is_one(tmp_path: Path) -> None:
    (tmp_path / "in.actor.h").write_text(IDLE)
    assert piped(tmp_path, "in.actor.h -").stdout == piped(tmp_path, "in.actor.h out.h; cat out.h").stdout


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
def test_standard_streams_of_a_wrong_source(tmp_path: Path, output: str) -> None:
    done = piped(tmp_path, f"- {output} >> log", BAD)
    assert done.returncode == 1
    assert done.stderr.startswith("<stdin>:1:44: error: `wait` cannot stand in a condition")
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.parametrize("output", ["-", "/dev/stdout"])
@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("> /dev/full", "actorc: the output cannot be written: No space left on device\n"),
        (">&-", "actorc: the output cannot be written: Bad file descriptor\n"),
        ("> >(exec true)", ""),
    ],
)
def test_standard_output_that_cannot_be_written(tmp_path: Path, output: str, where: str, said: str) -> None:
    long = GOOD + "// a line behind the actor\n" * 50_000
    done = piped(tmp_path, f"- {output} {where}", long)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_standard_input_that_cannot_be_read(tmp_path: Path) -> None:
    for output in ("-", "out.cpp"):
        done = piped(tmp_path, f"- {output} <&-")
        assert (done.returncode, done.stderr) == (1, "actorc: <stdin>: Bad file descriptor\n")
    assert names(tmp_path) == set()
