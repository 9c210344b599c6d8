"""Searches for inputs that break the front end or a back end.

The invariants for any text: no exception; an answer within a second of CPU time; each diagnostic has a place inside the
file; both back ends emit an accepted text, with every `#line` inside the file.

    tools/fuzz --parser --executions 100000 --seed 1
"""

from __future__ import annotations

import random
import re
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from actorc.diagnostics import Diagnostics
from actorc.driver import BACKENDS, Rejected, analyse, emitted
from actorc.report.report import as_text
from actorc.source import Source
from fuzzlib.mutation import Corpus, Mutator

LONGEST = 1.0  # seconds of CPU time for one text
_LINE = re.compile(r'^[ \t]*#line (\d+)(?: "fuzz")?$', re.MULTILINE)


class Hang(BaseException):
    """Not derived from Exception, so that no handler swallows it."""


class Broken(Exception):
    """An invariant does not hold."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def execute(text: str) -> bool:
    """Whether the text is accepted. Raises whatever is wrong with the compiler's answer."""
    source, diagnostics = Source("fuzz", text), Diagnostics()
    try:
        file = analyse(source, diagnostics)
    except Rejected:
        if not diagnostics.errors:
            raise Broken("rejected without an error") from None
        _check_places(diagnostics, source)
        return False
    _check_places(diagnostics, source)
    lines = text.count("\n") + 1
    for backend in BACKENDS:
        output = emitted(file, source, backend, "fuzz.g.cpp")
        if any(not 1 <= int(number) <= lines for number in _LINE.findall(output)):
            raise Broken(f"{backend}: a #line outside the file")
        output.encode("utf-8", "surrogateescape")
    return True


def _check_places(diagnostics: Diagnostics, source: Source) -> None:
    end = len(source.text)
    for found in diagnostics:
        spans = [found.span, *(note.span for note in found.notes)]
        spans += [edit.span for fix in found.fixes for edit in fix.edits]
        if any(not 0 <= span.start <= span.end <= end for span in spans):
            raise Broken(f"{found.code}: a place outside the file")
    as_text(diagnostics, source)


def fault(text: str) -> str | None:
    """A description of the fault, equal for texts with the same fault; None if there is none."""
    try:
        with limited(LONGEST):
            execute(text)
    except Hang as hang:
        return f"no answer within {LONGEST} s, in {_place(hang)}"
    except Broken as broken:
        return str(broken)
    except Exception as error:  # the fault to find
        return described(error)
    return None


def described(error: Exception) -> str:
    return f"{type(error).__name__} in {_place(error)}"


def _place(error: BaseException) -> str:
    """The innermost function of actorc."""
    if isinstance(error, RecursionError):
        return "a recursion"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/actorc/" in frame.filename]
    return f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].name}" if frames else "the fuzzer"


# ---------------------------------------------------------------------------------------------------------------
# Shrinking


def minimised(text: str, wanted: str, *, seconds: float = 20.0) -> str:
    """A shorter text with the same fault: first without lines, then without words, then without characters."""
    end = time.process_time() + seconds
    for pattern in (r"[^\n]*\n|[^\n]+", r"\w+|\s+|[^\w\s]", r"(?s:.)"):
        text = _without_parts(text, re.compile(pattern), lambda shorter: fault(shorter) == wanted, end)
    return text


def _without_parts(text: str, pattern: re.Pattern[str], fails: Callable[[str], bool], end: float) -> str:
    parts = pattern.findall(text)
    size = max(1, len(parts) // 2)
    while size and time.process_time() < end:
        first = 0
        while first < len(parts) and time.process_time() < end:
            shorter = parts[:first] + parts[first + size :]
            if fails("".join(shorter)):
                parts = shorter
            else:
                first += size
        size //= 2
    return "".join(parts)


# ---------------------------------------------------------------------------------------------------------------
# Campaigns


@dataclass(slots=True)
class Campaign:
    """The result of a run. `faults`: for each fault the first execution that had it, its text, and the number of
    executions."""

    executions: int = 0
    accepted: int = 0
    seconds: float = 0.0
    faults: dict[str, tuple[int, str, int]] = field(default_factory=dict)

    def add(self, other: Campaign) -> None:
        self.executions += other.executions
        self.accepted += other.accepted
        self.seconds += other.seconds
        for found, (number, text, times) in other.faults.items():
            first = self.faults.get(found, (number, text, 0))
            self.faults[found] = (*min(first[:2], (number, text)), first[2] + times)


def text_of(corpus: Corpus, seed: int, number: int) -> str:
    """The text of one execution. It depends on nothing but the two numbers and the files that the corpus is made of."""
    return Mutator(corpus, random.Random(f"{seed}:{number}")).text()


def run(corpus: Corpus, seed: int, numbers: range) -> Campaign:
    campaign = Campaign()
    started = time.process_time()
    for number in numbers:
        text = text_of(corpus, seed, number)
        try:
            with limited(LONGEST):
                campaign.accepted += execute(text)
        except (Exception, Hang):
            found = fault(text) or "a fault that does not come back"
            first, shown, times = campaign.faults.get(found, (number, text, 0))
            campaign.faults[found] = (first, shown, times + 1)
        campaign.executions += 1
    campaign.seconds = time.process_time() - started
    return campaign
