"""Gathers the pages, which are beside the documented code, and builds the site with MkDocs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from common.tree import ROOT
from docslib.generated import EXPLANATIONS, MADE, diagnostics
from docslib.headers import Header, public_headers
from docslib.markdown import escaped, site_page, with_links_to_headers

SOURCES = ROOT / "build" / "docs-sources"
_EXAMPLES = "net/examples"  # headers that no program includes but the examples
# Lines of code have up to 120 characters, and the names of files in tables stay whole.
_STYLE = """\
.md-grid { max-width: 84rem; }
.md-typeset td:first-child code { white-space: nowrap; }
"""

# Titles and pages, by their paths in the repository.
NAVIGATION: list[tuple[str, list[tuple[str, str]]]] = [
    ("Start", [("Millrace", "README.md"), ("Quick start", "flow/docs/quick_start.md"),
               ("Tutorial", "flow/docs/tutorial.md"), ("Vocabulary", "flow/docs/vocabulary.md"),
               ("Words of other libraries", "flow/docs/words_of_other_libraries.md"),
               ("Coroutines", "flow/docs/coroutines.md"), ("Simulation", "flow/docs/simulation.md"),
               ("Migration", "actorc/docs/migration.md")]),
    ("Guides", [("CMake and other build systems", "flow/docs/cmake.md"), ("Tests", "flow/docs/testing.md"),
                ("Sockets", "net/docs/sockets.md"),
                ("Another library's loop, threads and descriptors", "net/docs/other_libraries.md"),
                ("Another library's descriptors", "net/docs/descriptors.md"),
                ("Under systemd", "net/docs/systemd.md"),
                ("Restart without a refused connection", "net/docs/restart.md"),
                ("PostgreSQL", "net/docs/postgres.md"),
                ("Messages", "net/docs/messages.md"),
                ("Coming from ZeroMQ", "net/docs/zeromq.md"), ("Requests", "net/docs/rpc.md"),
                ("HTTP", "net/docs/http.md"), ("An HTTP service in an afternoon", "net/docs/http_service.md"),
                ("HTTP clients", "net/docs/http_client.md"),
                ("HTTP: files and compression", "net/docs/http_files.md"),
                ("Tracing requests", "net/docs/request_tracing.md"), ("WebSocket", "net/docs/websocket.md"),
                ("Files", "flow/docs/files.md"), ("Structured tasks", "flow/docs/structured_tasks.md"),
                ("Many children", "flow/docs/many_children.md"), ("Fibers", "flow/docs/fibers.md"),
                ("Examples to start from", "flow/docs/examples.md"),
                ("Writing a service", "flow/docs/writing_a_service.md"),
                ("Threads and loops", "flow/docs/threads_and_loops.md"), ("Debugging", "flow/docs/debugging.md"),
                ("Debugging a deadlock", "flow/docs/debugging_a_deadlock.md"),
                ("Debugging a leak", "flow/docs/debugging_a_leak.md"),
                ("Debugging a slow loop", "flow/docs/debugging_a_slow_loop.md"),
                ("Logging", "flow/docs/logging.md"),
                ("Looking into a running program", "flow/docs/tracing.md"),
                ("The command millrace", "flow/docs/command.md"),
                ("Performance", "flow/docs/performance.md"),
                ("Is my actor slow?", "flow/docs/is_my_actor_slow.md"),
                ("Your own primitive", "flow/docs/own_primitive.md"),
                ("Porting from Flow", "flow/docs/porting_from_flow.md")]),
    ("The language", [("All of it", "actorc/docs/language.md")] + [
        (title, f"actorc/docs/language/{name}.md") for title, name in (
            ("Actors", "actors"), ("Variables", "variables"), ("wait", "wait"), ("choose", "choose"),
            ("Loops and branches", "loops"), ("Errors", "errors"), ("return", "return"), ("Classes", "classes"),
            ("Lambdas", "lambdas"), ("Headers", "headers"), ("Tests", "tests"))]),
    ("Reference", [("actorc", "actorc/README.md"), ("Command lines", "reference/commands.md"),
                   ("Faults of simulations", "reference/faults.md"),
                   ("Migration codes", "actorc/docs/migration_codes.md"), ("Frames", "actorc/docs/frames.md"),
                   ("Checking", "actorc/docs/check.md"), ("Editors", "actorc/docs/editors.md"),
                   ("Dependencies", "flow/docs/dependencies.md"), ("Glossary", "flow/docs/glossary.md")]),
    ("Internals", [("The runtime", "flow/docs/internals.md"), ("The compiler", "actorc/docs/pipeline.md")]),
    ("Benchmarks", [("Commands", "bench/README.md"), ("Results", "bench/docs/results.md"),
                    ("Rows and columns", "bench/docs/rows.md"), ("Other libraries", "bench/docs/peers.md"),
                    ("Comparing", "bench/docs/comparing.md"), ("Profiles", "bench/docs/profiles.md"),
                    ("Sockets", "bench/docs/sockets.md"), ("HTTP", "bench/docs/http.md"),
                    ("PostgreSQL", "bench/docs/postgres.md"), ("Aims", "bench/docs/aims.md")]),
    ("Project", [("Contributing", "CONTRIBUTING.md"), ("Changes", "CHANGELOG.md")]),
]  # fmt: skip


def build_site(output: Path) -> int:
    """The exit code of MkDocs."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    headers = public_headers()
    header_pages = {header.path: f"reference/{header.path}.md" for header in headers}

    def take(path: str) -> str:
        made = MADE.get(path)
        text = made() if made else (ROOT / path).read_text(encoding="utf-8")
        return _write(path, site_page(text, path, header_pages))

    def page_of(header: Header) -> str:
        path = header_pages[header.path]
        return _write(path, with_links_to_headers(header.page, path, header_pages))

    navigation: list[dict[str, object]] = [
        {group: [{title: take(path)} for title, path in pages]} for group, pages in NAVIGATION
    ]
    library: list[dict[str, object]] = [
        {folder: [{name_of(each): page_of(each)} for each in members]} for folder, members in by_folder(headers).items()
    ]
    navigation.append({"Library": [{"All headers": _write("reference/library.md", cheat_sheet(headers))}, *library]})
    explanations = [{f"{code}: {escaped(title)}": take(f"{EXPLANATIONS}/{code}.md")} for code, title in diagnostics()]
    navigation.append({"Diagnostics": [{"All diagnostics": take("reference/diagnostics.md")}, *explanations]})
    configuration = SOURCES.with_suffix(".yml")
    configuration.write_text(yaml.safe_dump(_configuration(navigation, output), sort_keys=False), encoding="utf-8")
    # With its option --quiet, MkDocs ignores warnings in spite of --strict.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(configuration)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    printed = [line for line in (done.stdout + done.stderr).splitlines() if line and not line.startswith("INFO ")]
    print("".join(f"{line}\n" for line in printed), end="", file=sys.stderr)
    return done.returncode


def name_of(header: Header) -> str:
    return header.path.rpartition("/")[2]


def by_folder(headers: list[Header]) -> dict[str, list[Header]]:
    """Those of the examples last."""
    folders: dict[str, list[Header]] = {}
    for header in headers:
        folders.setdefault(header.path.rpartition("/")[0], []).append(header)
    return dict(sorted(folders.items(), key=lambda item: (item[0].startswith(_EXAMPLES), item[0])))


def cheat_sheet(headers: list[Header]) -> str:
    """One line for each header, by folder."""
    lines = ["# The library on one page", "", "One line for each header; its page has all that it declares."]
    for folder, members in by_folder(headers).items():
        lines += ["", f"## {folder}", "", "| header | what it is | names |", "|---|---|---|"]
        for header in members:
            link = f"[`{name_of(header)}`]({header.path}.md)"
            cells = (link, header.summary, ", ".join(f"`{name}`" for name in header.names))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _write(path: str, text: str) -> str:
    target = SOURCES / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return path


def _configuration(navigation: list[dict[str, object]], output: Path) -> dict[str, object]:
    return {
        "site_name": "Millrace",
        "docs_dir": str(SOURCES),
        "site_dir": str(output),
        "use_directory_urls": False,
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.tabs", "navigation.prune", "content.code.copy"],
        },
        "markdown_extensions": [
            "tables",
            "toc",
            {"pymdownx.highlight": {"anchor_linenums": False}},
            "pymdownx.superfences",
        ],
        "plugins": ["search"],
        "extra_css": [_write("wide.css", _STYLE)],
        "validation": {"links": {"anchors": "warn", "not_found": "warn", "unrecognized_links": "warn"}},
        "nav": navigation,
    }
