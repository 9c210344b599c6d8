"""Which actors the declarations without `ACTOR` of all files declare."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from actorc.records import dataclass, replace
from actorc_migrate.actors import Head
from actorc_migrate.prototypes import Prototype, likeness
from actorc_migrate.uses import Use

Place = tuple[str, int]  # a file, and the offset of the name in it


@dataclass(frozen=True, slots=True)
class _Declared:
    path: str
    offset: int
    prototype: Prototype

    @property
    def place(self) -> Place:
        return self.path, self.offset

    @property
    def where(self) -> tuple[str, tuple[str, ...]]:
        return self.path, self.prototype.signature.scope


class Declared:
    """A declaration is sure to be that of an actor if the types are the same as written; or if they are like those of
    actors that are like each other, and so are all declarations that are like these actors."""

    def __init__(self, defined: Mapping[Head, Head], uses: Iterable[tuple[str, Use]]) -> None:
        """`defined`: the actors, each with what its definition says; `uses`: with the files in which they are."""
        self._defined = defined
        by_name: dict[str, list[Head]] = {}
        for head in defined:
            by_name.setdefault(head.name, []).append(head)
        declared: dict[str, list[_Declared]] = {}
        for path, use in uses:
            if use.prototype is not None and not use.is_told and use.name in by_name:
                declared.setdefault(use.name, []).append(_Declared(path, use.span.start, use.prototype))
        self._certain: dict[Place, list[Head]] = {}
        self._fewest: dict[Place, int] = {}
        self._own: dict[tuple[str, tuple[str, ...]], list[tuple[int, Head]]] = {}  # what is declared there, and where
        for name, found in declared.items():
            self._match(found, by_name[name])

    def _match(self, declared: list[_Declared], heads: list[Head]) -> None:
        found = {each: _most_alike(each, heads) for each in declared}
        for each, (degree, actors) in found.items():
            rivals = [other for other, (_, others) in found.items() if not set(actors).isdisjoint(others)]
            if degree == 2 or (degree == 1 and _are_one(each, actors, [(one, found[one][0]) for one in rivals])):
                self._certain[each.place] = actors
                self._fewest[each.place] = each.prototype.fewest
                self._own.setdefault(each.where, []).extend((each.offset, head) for head in actors)

    def actors(self, path: str, use: Use, stay: Collection[Head]) -> list[Head]:
        """Those that a prototype is sure to declare, if all of them change or all stay."""
        actors = self._certain.get((path, use.span.start), [])
        return actors if len({head in stay for head in actors}) == 1 else []

    def is_another(self, path: str, use: Use, head: Head) -> bool:
        """Whether something else beside a prototype declares the actor, so that the prototype cannot."""
        own = self._own.get((path, use.prototype.signature.scope), ()) if use.prototype is not None else ()
        return any(self._defined[other] == head and offset != use.span.start for offset, other in own)

    def named_in(self, path: str) -> list[Head]:
        """The actors that a file declares."""
        return [head for (where, _), own in self._own.items() if where == path for _, head in own]

    def seen(self) -> Iterator[tuple[Head, Head]]:
        """The actors, each with what callers see that include its declaration."""
        for place, heads in self._certain.items():
            for head in heads:
                yield head, replace(self._defined[head], path=place[0], fewest=self._fewest[place])


def _most_alike(declared: _Declared, heads: Iterable[Head]) -> tuple[int, list[Head]]:
    prototype = declared.prototype
    degrees = {
        head: likeness(prototype.signature, head.signature)
        for head in heads
        if head.signature is not None and head.is_seen_in(declared.path) and _takes_alike(prototype, head)
    }
    most = max(degrees.values(), default=0)
    return most, [head for head, degree in degrees.items() if degree == most > 0]


def _takes_alike(prototype: Prototype, head: Head) -> bool:
    """Whether the parameters are what callers see; or already what a coroutine has."""
    assert head.signature is not None
    if prototype.is_by_value:
        return not (head.runs_on or head.is_void)
    pairs = zip(prototype.signature.kinds, head.signature.kinds, strict=False)
    return all(kind and kind[0] in kinds for kind, kinds in pairs)


def _are_one(declared: _Declared, actors: Sequence[Head], rivals: Sequence[tuple[_Declared, int]]) -> bool:
    if any(degree == 2 and other.where == declared.where for other, degree in rivals):
        return False  # beside it stands the right one
    defined = [head.path for head in actors if head.is_definition]
    if len(set(defined)) < len(defined):
        return False
    signatures = [head.signature for head in actors if head.signature is not None]
    signatures += [other.prototype.signature for other, _ in rivals]
    return all(likeness(*pair) for pair in combinations(signatures, 2))
