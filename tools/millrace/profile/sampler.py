"""Takes samples of a program that it runs: by perf, or, where that is not allowed, by a signal inside the program."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from millrace.common.failure import Failure
from millrace.common.process import ending, stream
from millrace.profile import record, signals
from millrace.profile.samples import Profile


@dataclass(frozen=True, slots=True)
class Sampler:
    name: str
    period: float  # seconds of processor time that a sample stands for
    how: str

    def run(
        self,
        command: Sequence[str | Path],
        on_line: Callable[[str], None],
        variables: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> tuple[int, Profile]:
        """Runs the command to its end; returns its exit code, too."""
        if self.name == "perf":
            return record.record(["--", *command], on_line, variables, cwd)
        with tempfile.TemporaryDirectory(prefix="millrace-profile-") as name:
            asked = {"MILLRACE_PROFILE": name, **(variables or {}), "MILLRACE_PROFILE_SAMPLES": "1"}
            code = stream(command, on_line, cwd, asked)
            result = Profile()
            for file in sorted(Path(asked["MILLRACE_PROFILE"]).glob("*.samples")):
                result.add_all(signals.read(file))
            return code, result

    def complete(self, command: Sequence[str | Path]) -> Profile:
        """The same; a Failure if the command fails or has no samples."""
        lines: list[str] = []
        code, profile = self.run(command, lines.append)
        if code or not profile.weights:
            raise Failure("\n".join([*lines[-20:], f"{self.name}: {ending(code) if code else 'no samples'}"]))
        return profile


def sampler(wanted: str | None) -> Sampler:
    """The one with that name, or the first that works here."""
    reason = "--with signal" if wanted == "signal" else record.why_not()
    if not reason:
        return Sampler("perf", 1 / record.FREQUENCY, f"perf, samples by the clock ({record.EVENT})")
    if wanted == "perf":
        raise Failure(reason)
    return Sampler("signal", signals.PERIOD, f"sampled by a signal ({reason})")
