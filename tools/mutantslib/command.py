"""tools/mutants: plants small faults one at a time, and sees whether the tests find them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rich.console import Console

from common.tree import default_file, revision
from millrace.common.arguments import CommandParser, UsageError, unknown
from mutantslib.catalogue import MUTANTS
from mutantslib.copy import Copy
from mutantslib.hunt import Hunt
from mutantslib.mutant import Mutant
from mutantslib.results import Result, Results

DESCRIPTION = """\
Plants small faults, as a programmer in a hurry makes them, in a copy of the project
(build/mutants), one at a time, and runs what tools/test runs until a test fails. The
tests that are nearest to the changed file come first. A mutant that hangs counts as
killed. Results are kept by the state of the sources: a run that was interrupted goes on
where it was. It takes hours."""

EPILOG = """\
Exit code: 0 at least 95 of 100 mutants were killed, 1 fewer were, 2 wrong arguments."""

SHARE = 95


def main(arguments: Sequence[str], console: Console, out: Console) -> int:
    parser = CommandParser("tools/mutants", DESCRIPTION, EPILOG)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="mutants of these folders: flow/loop, actorc")
    parser.add_argument("--only", nargs="+", metavar="MUTANT", default=[], help="these, even if they have a result")
    parser.add_argument("--list", action="store_true", help="print them, and run nothing")
    options = parser.parse_args(arguments)
    names = chosen(options.only, options.folders)
    if options.list:
        for name in names:
            out.print(f"{name:32} {places(name)[0].file}", soft_wrap=True)
        return 0
    folder = default_file("mutants")
    folder.mkdir(parents=True, exist_ok=True)
    copy = Copy(folder / "tree", MUTANTS)
    copy.folder.mkdir(exist_ok=True)
    results = Results(folder / "results.jsonl", copy.update())
    hunt = Hunt(copy.folder)
    out.print(f"{len(names)} mutants of {revision()}", soft_wrap=True)
    found = []
    for name in names:
        change = "".join(each.digest() for each in places(name))
        result = None if options.only else results.of(name, change)
        if result is None:
            began = time.monotonic()
            with copy.with_alone(name):
                outcome, by = hunt.run(name, places(name)[0].file)
            result = results.add(name, change, outcome, by, time.monotonic() - began)
        out.print(row(result), soft_wrap=True)
        found.append(result)
    return summary(found, out)


def chosen(only: Iterable[str], folders: Iterable[str]) -> list[str]:
    every = list(dict.fromkeys(mutant.name for mutant in MUTANTS))
    for name in only:
        if name not in every:
            raise UsageError(unknown("mutant", name, every))
    found = list(only)
    for folder in folders:
        inside = [each.name for each in MUTANTS if each.file.startswith(f"{folder.rstrip('/')}/")]
        if not inside:
            raise UsageError(f"there is no mutant in '{folder}'")
        found += inside
    return list(dict.fromkeys(found)) or every


def places(name: str) -> list[Mutant]:
    return [mutant for mutant in MUTANTS if mutant.name == name]


def row(result: Result) -> str:
    return f"{result.mutant:32} {result.outcome:8} {result.seconds:7.1f} s  {result.by}".rstrip()


def summary(results: Sequence[Result], out: Console) -> int:
    survived = [result.mutant for result in results if result.outcome == "survived"]
    hung = [result.mutant for result in results if result.outcome == "hung"]
    killed = len(results) - len(survived)
    share = 100 * killed / len(results)
    out.print(f"killed {killed} of {len(results)}, {share:.1f} %", soft_wrap=True)
    if hung:
        out.print(f"of these, hung: {', '.join(hung)}", soft_wrap=True)
    for name in survived:
        reason = next((each.reason for each in places(name) if each.reason), "no reason is given")
        out.print(f"survived: {name}: {reason}", soft_wrap=True)
    return 0 if share >= SHARE else 1
