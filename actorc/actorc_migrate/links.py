"""Symbolic links to actor files: when a file gets its new name, its links must lead there, and get new names, too.

`x.actor.h -> ../src/x.actor.h` becomes `x.h -> ../src/x.h` if both are among the given paths. A link to a file that is
not given stays as it is, and is reported. Links that are not given are not searched for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from actorc.source import Source
from actorc.syntax import Span
from actorc_migrate.gather import Kind, Link, Unusable, kind_of, new_path, place_of
from actorc_migrate.results import FileResult, Status


class Links:
    """`paths`: of the files that are given, by their real paths."""

    def __init__(self, found: Mapping[str, Link], paths: Mapping[str, str]) -> None:
        self.lost: list[Unusable] = []
        self.leads_to: dict[str, str] = {}  # the given files, by where the links are
        self._links: list[tuple[Link, str]] = []
        steps: dict[str, int] = {}
        for place, link in found.items():
            end, steps[link.path] = _next(link), 1
            while end in found:
                end, steps[link.path] = _next(found[end]), steps[link.path] + 1
            if end in paths:
                self.leads_to[place] = paths[end]
                self._links.append((link, paths[end]))
            else:
                self.lost.append(Unusable(link.path, f"a link to {end}, which is not given: name that, too"))
        self._links.sort(key=lambda each: steps[each[0].path])

    def hindered(self, files: Mapping[str, FileResult]) -> dict[str, str]:
        """Files that cannot be given their new names, since a link to them cannot, and why."""
        found = {}
        for link, path in self._links:
            new = _renamed(link.path)
            folder = os.path.dirname(link.path) or "."
            is_there = new == link.path or (os.path.islink(new) and os.readlink(new) == _renamed(link.text))
            if files[path].new_path == path:
                continue
            if os.path.lexists(new) and not is_there:
                found[path] = f"the link {link.path} leads to it, and {new} exists"
            elif not os.access(folder, os.W_OK):
                found[path] = f"the link {link.path} leads to it, and no file can be made in {folder}"
        return found

    def results(self, files: Mapping[str, FileResult]) -> Iterator[FileResult]:
        """Those that lead to other links come behind these."""
        for link, path in self._links:
            moves = files[path].new_path != path
            new, text = (_renamed(link.path), _renamed(link.text)) if moves else (link.path, link.text)
            changes = () if text == link.text else ((Span(0, len(link.text)), text),)
            status = Status.RELINKED if moves else Status.UNCHANGED
            yield FileResult(link.path, new, status, "", Source(link.path, link.text), text, changes, is_link=True)


def _next(link: Link) -> str:
    """What a link names: a file, or another link."""
    return place_of(os.path.join(os.path.dirname(place_of(link.path)), link.text))


def _renamed(path: str) -> str:
    return new_path(path) if kind_of(path) is Kind.ACTORS else path
