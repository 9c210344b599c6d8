"""The results of a migration for each file, before anything is written."""

from __future__ import annotations

from enum import Enum

from actorc.records import dataclass, field
from actorc.report.failure import Failure
from actorc.source import Source
from actorc.syntax import Span
from actorc_migrate.cmake import Place
from actorc_migrate.notes import Note, Outcome
from actorc_migrate.settings import Settings


class Status(Enum):
    MIGRATED = "migrated"  # an actor file that becomes a plain one
    KEPT = "kept"  # an actor file that stays one, since some of it cannot be migrated
    REJECTED = "rejected"  # an actor file that is wrong, or with which something went wrong
    REFUSED = "refused"  # an actor file that cannot be given its new name
    UPDATED = "updated"  # another file, which changes
    RELINKED = "relinked"  # a link to a file that becomes a plain one
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class FrameSizes:
    """Of one actor: the bytes of its frame with one compiler."""

    actor: str
    compiler: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FileResult:
    path: str
    new_path: str  # the same where it keeps its name
    status: Status
    reason: str  # why it is KEPT, REJECTED or REFUSED
    source: Source
    text: str  # what it becomes
    changes: tuple[tuple[Span, str], ...]  # outside of these the source stays as it is
    outcomes: tuple[Outcome, ...] = ()
    notes: tuple[Note, ...] = ()
    places: tuple[Place, ...] = ()
    is_link: bool = False  # a symbolic one: `source` and `text` are the paths that it names

    @property
    def is_changed(self) -> bool:
        return self.new_path != self.path or self.text != self.source.text

    @property
    def left(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.left]


@dataclass(slots=True)
class Result:
    settings: Settings
    files: list[FileResult]
    failures: list[Failure]  # files that cannot be read, faults of actorc
    frames: list[FrameSizes] = field(default_factory=list)  # empty if they were not measured
    called: list[str] = field(default_factory=list)  # actors that --verify called by themselves
    uncalled: list[tuple[str, str]] = field(default_factory=list)  # those that it did not, and why

    @property
    def changed(self) -> list[FileResult]:
        return [file for file in self.files if file.is_changed]

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left, rejected or refused, and no declaration is to be changed by hand."""
        stays = (Status.KEPT, Status.REJECTED, Status.REFUSED)
        return not (self.failures or self.by_hand or any(file.status in stays or file.left for file in self.files))

    @property
    def by_hand(self) -> int:
        """How many declarations of coroutines the result has that are still those of actors."""
        return sum(note.is_open for file in self.files for note in file.notes)
