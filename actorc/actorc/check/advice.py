"""Warnings about code that actorc can compile but that is likely to be a mistake. Runs after check.

It reads only actors without errors, so that one mistake gives one message.
"""

from __future__ import annotations

from actorc.check.discards import Callees, report_discarded
from actorc.check.forgotten import report_forgotten_actors
from actorc.check.handlers import report_swallowing
from actorc.check.includes import report_includes
from actorc.check.kept import kept_variables
from actorc.check.lost_locals import report_locals
from actorc.check.objects import report_objects
from actorc.check.outside import Outside
from actorc.check.reach import Reach
from actorc.check.slips import may_be_misspelt, report_misspelt, report_slips
from actorc.check.unread import report_unread
from actorc.diagnostics import Diagnostics
from actorc.source import Source
from actorc.syntax import File, Try, all_actors, walk


def advise(file: File, source: Source, diagnostics: Diagnostics) -> None:
    """Adds to `diagnostics` what the author should look at."""
    reach = Reach(source)
    outside = Outside(file)
    callees = Callees(file, outside)
    misspelt = may_be_misspelt(file)
    for actor in all_actors(file.actors):
        body = actor.body
        if body is None or diagnostics.has_error_in(actor.span):
            continue
        statements = tuple(walk(body))
        kept = tuple(kept_variables(actor, statements, file.words))
        names = [(variable.name, variable.span) for variable in kept]
        names += report_locals(actor, body, kept, file, source, outside, reach, diagnostics)
        if any(isinstance(statement, Try) for statement in statements):
            report_swallowing(actor, body, file, source, reach, diagnostics)
        report_discarded(actor, statements, kept, callees, file, source, diagnostics)
        report_unread(body, kept, file, source, diagnostics)
        report_objects(actor, {variable.name for variable in kept}, file.words, diagnostics)
        report_slips(actor, statements, names, file.words, source, diagnostics)
        if misspelt:
            report_misspelt(actor, statements, file, outside, diagnostics)
    report_includes(file, source, diagnostics)
    report_forgotten_actors(file, source, diagnostics)
