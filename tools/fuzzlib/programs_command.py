"""`tools/fuzz --programs`: runs random programs in several processes and prints differences."""

from __future__ import annotations

import sys
from contextlib import closing

from fuzzlib.campaign import made_small, run, tasks
from fuzzlib.report import reproducer
from fuzzlib.toolchain import TOOLCHAINS
from millrace.common.console import plain
from millrace.common.progress import Bar

COMPILERS = tuple(TOOLCHAINS)
SHRUNK = 5  # differences that are shrunk: the rest are printed unchanged


def fuzz_programs(seed: int, indices: range, jobs: int, compilers: list[str] | None, forms: tuple[str, ...]) -> int:
    """Returns the exit code: 1 if there is a difference."""
    installed = [name for name, toolchain in TOOLCHAINS.items() if toolchain.is_there]
    pending = tasks(seed, indices, compilers or installed, forms)
    console = plain(stderr=True)
    done = differing = 0
    try:
        with Bar(console, "programs") as bar, closing(run(pending, jobs)) as results:
            for task, found in results:
                done += len(task.indices)
                for each in found:
                    difference = made_small(each) if differing < SHRUNK else each.difference
                    differing += 1
                    console.print(reproducer(each, difference), soft_wrap=True)
                bar.update(done, len(indices))
    except KeyboardInterrupt:
        print(f"tools/fuzz: interrupted after {done} programs, {differing} with a difference", file=sys.stderr)
        return 130
    print(f"{done} programs of seed {seed}: {differing} with a difference")
    return 1 if differing else 0
