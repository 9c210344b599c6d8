"""The templates around an actor's body."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from actorc.lines import at
from actorc.printer import pieces


@cache
def _template(name: str) -> Template:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(
        loader=loader, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined, autoescape=False
    )
    environment.globals.update(at=at, pieces=pieces)
    return environment.get_template(name)


def render(template: str, **values: object) -> str:
    return _template(template).render(values)
