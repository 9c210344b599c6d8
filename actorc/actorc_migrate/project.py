"""All the given files together: each is read once and parsed at most once; then what each becomes is decided."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence

from actorc.records import replace
from actorc.report.failure import Failure
from actorc.source import Source
from actorc_migrate.actors import first_look
from actorc_migrate.decide import Decision
from actorc_migrate.examine import Examined, Task, examine_all
from actorc_migrate.gather import Given, Kind, Unusable, gather, new_path
from actorc_migrate.links import Links
from actorc_migrate.results import FileResult, Result, Status
from actorc_migrate.settings import Settings
from actorc_migrate.spelling import qualifies

_ACTOR_NAME = re.compile(r"\bACTOR\b[^;{}]*?(\w+)\s*\(")
_FUNCTION_NAME = re.compile(r"\bFuture\s*<[^;{}()]*>\s+(?:\w+\s*::\s*)*(\w+)\s*\(")

Say = Callable[[str], None]


class Project:
    """`say` is given what is to be printed to standard error."""

    def __init__(self, paths: Sequence[str], settings: Settings, say: Say) -> None:
        self._say = say
        self._failures: list[Failure] = []
        found = gather(paths)
        self._data = self._read(list(found.files.values()))
        read = {real: each for real, each in found.files.items() if each.path in self._data}
        self._given = list(read.values())
        self._links = Links(found.links, {real: each.path for real, each in read.items()})
        for unusable in [*found.unusable, *self._links.lost]:
            self._fail(unusable)
        self._texts = {path: data.decode("utf-8", errors="surrogateescape") for path, data in self._data.items()}
        self._settings = replace(settings, qualifies=any(map(qualifies, self._texts.values())))

    def _fail(self, unusable: Unusable) -> None:
        self._failures.append(Failure(unusable.path, "file", unusable.message))
        self._say(f"actorc: {unusable.path}: {unusable.message}\n")

    def _read(self, given: Sequence[Given]) -> dict[str, bytes]:
        found = {}
        for each in given:
            try:
                with open(each.path, "rb") as file:
                    found[each.path] = file.read()
            except OSError as error:
                self._fail(Unusable(each.path, error.strerror or str(error)))
        return found

    @property
    def actor_files(self) -> list[Given]:
        return [each for each in self._given if each.kind is Kind.ACTORS]

    def migrated(self, jobs: int = 1) -> Result:
        """What becomes of all files. Nothing is written."""
        unwritable = {each.path: reason for each in self.actor_files if (reason := _unwritable(each.path))}
        examined = self._examined(unwritable, jobs)
        for each in examined:
            self._say(each.printed)
            self._failures += each.failures
        taken = [each.path for each in self.actor_files if os.path.lexists(new_path(each.path))]
        files = self._decided(examined, unwritable)
        refused = unwritable | self._links.hindered(files)
        refused |= {path: reason for path in taken if (reason := _taken(path, files[path]))}
        if len(refused) > len(unwritable):
            files = self._decided(examined, refused)
        for path, reason in refused.items():
            self._say(f"actorc: {path}: skipped: {reason}\n")
        every = [*(files[each.path] for each in self._given), *self._links.results(files)]
        return Result(self._settings, every, self._failures)

    def _decided(self, examined: Sequence[Examined], refused: dict[str, str]) -> dict[str, FileResult]:
        lists = [each.path for each in self._given if each.kind is Kind.CMAKE]
        decision = Decision(examined, self._texts, self._links.leads_to, refused, self._settings)
        files = {each.path: decision.of_code(each) for each in examined}
        files |= {path: decision.of_list(path) for path in lists}
        for each in self._given:
            if each.path not in files:
                text = self._texts[each.path]
                files[each.path] = FileResult(
                    each.path, each.path, Status.UNCHANGED, "", Source(each.path, text), text, ()
                )
        return files

    def _examined(self, kept: Collection[str], jobs: int) -> list[Examined]:
        names = first_look(self._texts.values())
        actors = {match[1] for each in self.actor_files for match in _ACTOR_NAME.finditer(self._texts[each.path])}
        relevant = self._relevant(names, actors)
        tasks = [
            Task(each.path, each.kind, self._data[each.path], each.path in kept)
            for each in self._given
            if each.kind is Kind.ACTORS or each.path in relevant
        ]
        examined = examine_all(tasks, names | actors, self._settings, jobs)
        unforeseen = {head.name for each in examined for head in each.heads if head.runs_on or head.is_void} - names
        if unforeseen:  # a head in an unusual spelling
            names |= unforeseen
            relevant = self._relevant(names, actors)
            tasks = [
                Task(each.path, each.kind, self._data[each.path], each.path in kept)
                for each in self._given
                if each.kind is Kind.ACTORS or each.path in relevant
            ]
            examined = examine_all(tasks, names | actors, self._settings, jobs)
        return examined

    def _relevant(self, names: Collection[str], actors: Collection[str]) -> set[str]:
        """Plain files that a migration may change, or that have notes."""
        words = [rf"(?:{'|'.join(sorted(names))})\b"] if names else []
        words += [rf"(?:{'|'.join(sorted(actors))})\b(?!\s*\()"] if actors else []
        named = re.compile(rf"\b(?:{'|'.join(words)})") if words else None
        found = set()
        for each in self._given:
            text = self._texts[each.path]
            if each.kind is Kind.PLAIN and (
                ".actor." in text
                or "Actor" in text
                or (named is not None and named.search(text))
                or ("Future" in text and any(match[1] in actors for match in _FUNCTION_NAME.finditer(text)))
            ):
                found.add(each.path)
        return found


def _unwritable(path: str) -> str:
    folder = os.path.dirname(path) or "."
    return "" if os.access(folder, os.W_OK) else f"no file can be made in {folder}"


def _taken(path: str, file: FileResult) -> str:
    """Why a file cannot be made; it may be there already, when a run was interrupted."""
    if file.new_path == path:
        return ""
    try:
        with open(file.new_path, "rb") as existing:
            if existing.read() == file.source.encode(file.text):
                return ""
    except OSError:
        pass
    return f"{file.new_path} exists, and is another file"
