"""The programs of the pages, done as a reader would do them.

A block with a title is written to the file of that name. A block of the language `console` is typed, command by
command, and must print what the page shows. A page's blocks share one folder. Parts of C++ programs are compiled, all
in one file. Other tests check other blocks; `title="example"` marks one that no test checks.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.pages
ROOT = Path(__file__).resolve().parents[2]
# What is installed here has the costly assertions, which say this as well.
IN_ACTOR = re.compile(r"^flow:   in actor .*\n", re.MULTILINE)
BLOCK = re.compile(r"^```(\w*) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
EXAMPLE = "example"

# Tests that check each block of a page, and tests that run a command and compare what it prints with a page.
OF_PAGES = {
    "actorc/actorc/report/explanations/*.md": "tests/actorc/test_explain.py",
    "actorc/docs/frames.md": "tests/actorc/test_frames.py",
    "actorc/docs/language.md": "tests/actorc/test_language_examples.py",
    "actorc/docs/language/*.md": "tests/actorc/test_language_examples.py",
    "actorc/docs/migration*.md": "tests/actorc/migrate/test_examples.py",
    "flow/docs/debugging*.md": "tests/tools/check_debugging.py",
    "flow/docs/is_my_actor_slow.md": "tests/tools/check_slow_actor.py",
    "flow/docs/simulation.md": "tests/sim/check_tutorial.py",
    "flow/docs/structured_tasks.md": "tests/tools/test_task_mistakes.py",
    "net/docs/restart.md": "tests/net/examples/check_restart.py",
    "net/docs/postgres.md": "tests/net/postgres/check_postgres.py",
    "tests/actorc/migrate/constructs.md": "tests/actorc/migrate/test_examples.py",
}
OF_COMMANDS = {
    "build/clang/net/examples/http_server": "tests/net/examples/check_http_server.py",
    "message_patterns": "tests/net/examples/check_message_patterns.py",
    "kvstore": "tests/net/examples/check_kvstore.py",
    "<build>/net/examples/kv": "tests/net/examples/check_kv.py",
}
# Programs of which a page shows parts.
SHOWN_ON = {"net/docs/messages.md": "net/examples/patterns/*.cpp"}
# What parts of programs are compiled behind: declarations, and the beginning of a function.
FRAGMENTS = {
    "flow/docs/debugging_a_deadlock.md": ("struct Account;", "Account *from = nullptr, *to = nullptr;"),
    "flow/docs/logging.md": (
        "",
        "using namespace std::chrono_literals; UID id; std::string address; int n = 1; Error error = io_error();",
    ),
    "flow/docs/tracing.md": (
        "std::vector<int> orders;",
        "RealLoop loop; trace::Recorder first(loop), second(loop);",
    ),
    "net/docs/http_client.md": ("", "std::string url, event; using namespace std::chrono_literals;"),
    "net/docs/postgres.md": ("", ""),
    "net/docs/request_tracing.md": ("", "http::Request request;"),
    "net/docs/messages.md": (
        "struct Accounts { Future<bool> check(std::string, std::string); };",
        "MessageOptions options; Accounts accounts;",
    ),
}
FUNCTION = re.compile(r"[\w<>:]+ \w+\(.*\) \{\n")
INCLUDES = (
    "csignal",
    "flow/flow.h",
    "flow/trace/metrics.h",
    "flow/trace/recorder.h",
    "net/console.h",
    "net/http/client_tls.h",
    "net/http/router.h",
    "net/http/span_exporter.h",
    "net/message/message_socket.h",
    "net/postgres/pool.h",
)


class Shown(NamedTuple):
    language: str
    title: str
    text: str


def every_page() -> list[Path]:
    folders = [ROOT / name for name in ("actorc", "bench", "flow", "net", "tests", "tools")]
    return [*sorted(ROOT.glob("*.md")), *(page for folder in folders for page in sorted(folder.rglob("*.md")))]


def shown(page: Path) -> list[Shown]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [Shown(language, info.removeprefix('title="').removesuffix('"'), text) for language, info, text in found]


def checked_by(page: Path) -> str | None:
    """The test that checks all blocks of the page."""
    return next((test for pattern, test in OF_PAGES.items() if page.relative_to(ROOT).match(pattern)), None)


def pages() -> list[Path]:
    """Those with commands that are typed here."""
    return [
        page
        for page in every_page()
        if checked_by(page) is None and any(block.language == "console" for block in shown(page))
    ]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_there_are_pages() -> None:
    assert {"README.md", "flow/docs/quick_start.md", "flow/docs/tutorial.md"} <= {name_of(page) for page in pages()}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_commands_of_a_page_print_what_it_shows(page: Path, shell: dict[str, str], tmp_path: Path) -> None:
    for language, title, text in shown(page):
        if title and title != EXAMPLE:
            (tmp_path / title).write_text(text, encoding="utf-8")
        if language != "console":
            continue
        lines = text.splitlines(keepends=True)
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        printed = "".join(typed(command, tmp_path, shell) for command in commands)
        assert IN_ACTOR.sub("", printed) == "".join(line for line in lines if not line.startswith("$ ")), commands


def typed(command: str, folder: Path, shell: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=shell,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=600,
    )
    return done.stdout


def is_part(page: Path, text: str) -> bool:
    """Whether the C++ stands in a program that is compiled."""
    sources = ROOT.glob(SHOWN_ON.get(name_of(page), "none"))
    return any(text in source.read_text(encoding="utf-8") for source in sources)


def is_checked(page: Path, block: Shown) -> bool:
    commands = {line.split()[1] for line in block.text.splitlines() if line.startswith("$ ")}
    if block.title == EXAMPLE or checked_by(page) or commands & OF_COMMANDS.keys():
        return True
    if page in pages() and (block.title or block.language == "console"):
        return True
    return block.language == "cpp" and name_of(page) in FRAGMENTS  # or a part of a program


@pytest.mark.parametrize("page", every_page(), ids=name_of)
def test_each_program_and_each_output_of_a_page_is_checked(page: Path) -> None:
    of_interest = [
        each for each in shown(page) if each.language in ("cpp", "console", "text", "") or "\n$ " in f"\n{each.text}"
    ]
    assert [block.text for block in of_interest if not is_checked(page, block)] == []


def test_the_readme_of_an_example_has_ten_lines_at_most() -> None:
    lengths = {name_of(page): len(page.read_text().splitlines()) for page in ROOT.glob("tests/examples/*/README.md")}
    assert lengths and {name: length for name, length in lengths.items() if length > 10} == {}


def test_what_checks_pages_is_there() -> None:
    for pattern, test in OF_PAGES.items():
        assert (ROOT / test).exists() and list(ROOT.glob(pattern)), pattern
    texts = "".join(page.read_text(encoding="utf-8") for page in every_page())
    for command, test in OF_COMMANDS.items():
        assert (ROOT / test).exists() and f"\n$ {command} " in texts, command


def test_parts_of_programs_compile() -> None:
    compiler = shutil.which("clang++-19")
    if not compiler:
        pytest.skip("there is no clang++-19")
    text = "".join(f'#include "{name}"\n' for name in INCLUDES) + "using namespace flow;\nusing namespace flow::net;\n"
    for number, (name, (declarations, begin)) in enumerate(FRAGMENTS.items()):
        page = ROOT / name
        parts = [each.text for each in shown(page) if each.language == "cpp" and not each.title]
        blocks = [text for text in parts if not is_part(page, text)]
        assert blocks, name
        functions = [block for block in blocks if FUNCTION.match(block)]
        statements = [f"{{\n{block}}}\n" for block in blocks if block not in functions]
        body = f"void all() {{\n{begin}\n{''.join(statements)}}}\n"
        text += f"namespace page{number} {{\n{declarations}\n{''.join(functions)}{body}}}\n"
    flags = ["-std=c++20", f"-I{ROOT}", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-fsyntax-only", "-xc++", "-"]
    done = subprocess.run([compiler, *flags], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
