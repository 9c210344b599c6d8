"""Examines one file in a worker process: all that needs its tree. decide.py does the rest when all files are known."""

from __future__ import annotations

import gc
import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from itertools import repeat

from actorc import driver
from actorc.diagnostics import Diagnostics
from actorc.parse.brackets import TokenList
from actorc.parse.lexer import lex
from actorc.records import dataclass, replace
from actorc.report.failure import Failure
from actorc.report.report import Reporter, in_one_line
from actorc.run import report_internal
from actorc.source import Source
from actorc.syntax import File, Words
from actorc_migrate.actors import Head, heads_of
from actorc_migrate.directives import directives_of
from actorc_migrate.edits import Edits
from actorc_migrate.enclosing import Scopes
from actorc_migrate.gather import Kind
from actorc_migrate.headers import Surroundings, surroundings_of
from actorc_migrate.notes import Conversion
from actorc_migrate.prototypes import prototype_at
from actorc_migrate.settings import Settings
from actorc_migrate.uses import Use, UseKind, find_uses

_FILES_AT_ONCE = 4  # files that one process gets at a time
_FILES_BETWEEN_COLLECTIONS = 20
_NOTHING = Conversion((), ())


@dataclass(frozen=True, slots=True)
class Task:
    path: str
    kind: Kind
    data: bytes
    is_kept: bool  # its actors are not to be touched


@dataclass(frozen=True, slots=True)
class Examined:
    path: str
    edits: Edits  # of what stands in actors
    conversion: Conversion
    heads: tuple[Head, ...]
    uses: tuple[Use, ...]
    surroundings: Surroundings
    first_actor: int | None  # where it begins
    rejected: str  # why its actors stay as they are, if the file is why
    printed: str  # for standard error
    failures: tuple[Failure, ...]


def examine_all(tasks: Sequence[Task], names: Collection[str], settings: Settings, jobs: int) -> list[Examined]:
    """In the order of the tasks."""
    jobs = min(jobs, -(-len(tasks) // _FILES_AT_ONCE))
    if jobs <= 1:
        return list(_one_by_one(tasks, names, settings))
    with ProcessPoolExecutor(jobs, initializer=_end_with_parent) as pool:
        return list(pool.map(examine, tasks, repeat(names), repeat(settings), chunksize=_FILES_AT_ONCE))


def _end_with_parent() -> None:
    """Ends the worker when its parent has been killed. Interrupts are left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _one_by_one(tasks: Iterable[Task], names: Collection[str], settings: Settings) -> Iterator[Examined]:
    gc.freeze()  # loaded modules stay in use: the garbage collector need not scan them
    for number, task in enumerate(tasks, 1):
        yield examine(task, names, settings)
        if number % _FILES_BETWEEN_COLLECTIONS == 0:
            gc.collect()
            gc.freeze()  # the results stay in use too


def examine(task: Task, names: Collection[str], settings: Settings) -> Examined:
    """A failure in a file is reported for that file."""
    source = Source.from_bytes(task.path, task.data)
    reporter = Reporter("text", "never", warnings=False)
    printed = io.StringIO()
    with redirect_stderr(printed):
        try:
            return _examine(task, source, names, settings, reporter, printed)
        except Exception as error:
            report_internal(error, task.path, reporter)
    failures = tuple(reporter.failures)
    why = failures[-1].message
    nothing = Surroundings((), (), ())
    return Examined(task.path, Edits(source.text), _NOTHING, (), (), nothing, None, why, printed.getvalue(), failures)


def _examine(
    task: Task, source: Source, names: Collection[str], settings: Settings, reporter: Reporter, printed: io.StringIO
) -> Examined:
    if task.kind is Kind.PLAIN:
        tokens = _tokens_of(source)
        file, rejected = File((), Words(tokens.texts, tokens.tokens.starts)), ""
    else:
        file, rejected = _parsed(source, reporter)
    edits = Edits(source.text)
    conversion = _NOTHING
    if task.kind is Kind.ACTORS and not rejected and not task.is_kept:
        from actorc_migrate.convert import convert  # imported here: files without actors do not need it

        try:
            conversion = convert(file, source, settings, edits)
        except Exception as error:
            report_internal(error, task.path, reporter)
            rejected = reporter.failures[-1].message
            edits, conversion = Edits(source.text), _NOTHING
    heads = heads_of(file, source)
    uses = find_uses(file.words, source, names, [head.own for head in heads])
    spans = [actor.span for actor in file.actors]
    return Examined(
        task.path,
        edits,
        conversion,
        heads,
        tuple(_with_prototypes(uses, file.words, source, names)),
        surroundings_of(file, directives_of(file.words)),
        min((span.start for span in spans), default=None),
        rejected,
        printed.getvalue(),
        tuple(reporter.failures),
    )


def prototypes_in(path: str, names: Collection[str]) -> Iterator[Use]:
    """In a file that is not given."""
    try:
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read())
    except OSError:
        return
    if not any(name in source.text for name in names):
        return
    tokens = _tokens_of(source)
    words = Words(tokens.texts, tokens.tokens.starts)
    yield from _with_prototypes(find_uses(words, source, (), ()), words, source, names)


def _tokens_of(source: Source) -> TokenList:
    return TokenList(source, lex(source, Diagnostics()), Diagnostics())


def _with_prototypes(uses: Sequence[Use], words: Words, source: Source, names: Collection[str]) -> Iterator[Use]:
    """The same, each prototype with what it says."""
    tokens = scopes = None
    for use in uses:
        if use.kind is UseKind.PROTOTYPE and use.name in names:
            tokens, scopes = tokens or _tokens_of(source), scopes or Scopes(words.texts)
            use = replace(use, prototype=prototype_at(words.first(use.span), tokens, words, scopes))
        yield use


def _parsed(source: Source, reporter: Reporter) -> tuple[File, str]:
    """The tree, and what is wrong with it."""
    diagnostics = Diagnostics()
    file = driver.examine(source, diagnostics)
    reporter.add(source, diagnostics)
    return file, _said_of(diagnostics, source)


def _said_of(diagnostics: Diagnostics, source: Source) -> str:
    errors = diagnostics.errors
    if not errors:
        return ""
    first = f"line {source.line(errors[0].span.start)}: {in_one_line(errors[0].message)} [{errors[0].code}]"
    return f"an error in {first}" if len(errors) == 1 else f"{len(errors)} errors, the first in {first}"
