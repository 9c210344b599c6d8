"""Plants faults in copies of the library's sources, so that those of the library stay as they are.

plant.py --files           the sources that have any
plant.py SOURCE OUTPUT     writes the copy; SOURCE is a path from the root of the project

Each fault is on if tests/sim/mutants.h says so; with none, the copy does what the source does.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    before: str  # stands there once
    after: str


FAULTS = [
    Fault(
        "LockForgetsLast",
        "flow/lib/flow_lock.cpp",
        "while (!waiting_.isEmpty() && hasLoop()) {",
        "while (!waiting_.isEmpty() && hasLoop() && !(PLANTED && waiters_ == 1)) {",
    ),
    Fault(
        "AllAtFirst",
        "flow/wait/quorum.cpp",
        "--frame->needed_ > 0)",
        "--frame->needed_ > 0 && !PLANTED)",
    ),
    Fault(
        "LateTimer",
        "flow/loop/timer_queue.cpp",
        "        soonEnd_ = keyOf(&link);",
        "        if (!PLANTED)\n            soonEnd_ = keyOf(&link);",
    ),
    Fault(
        "DiskSyncsNothing",
        "flow/sim/disk.cpp",
        "            content->store(changes, *dice);",
        "            if (!PLANTED)\n                content->store(changes, *dice);",
    ),
    Fault(
        "DiskSyncsNoNames",
        "flow/sim/disk.cpp",
        "        storeNames(path, changes);",
        "        if (!PLANTED)\n            storeNames(path, changes);",
    ),
    Fault(
        "DiskLosesSector",
        "flow/sim/disk_file.cpp",
        "        return stored_.write(target * kSector, change.sectors);",
        "        return stored_.write(target * kSector,\n"
        "            StringRef(change.sectors).substr(0, (PLANTED && count > 1 ? count - 1 : count) * kSector));",
    ),
    Fault(
        "DeliveredTwice",
        "net/sim/session.cpp",
        "        if (half.isKnown)\n            half.received.push(",
        "        if (half.isKnown && PLANTED)\n            half.received.push(segment.bytes);\n"
        "        if (half.isKnown)\n            half.received.push(",
    ),
    Fault(
        "CutForEver",
        "net/sim/sim_network.cpp",
        "        cable.cutUntil = cable.clogUntil = 0;",
        "        cable.cutUntil = PLANTED && cable.cutUntil > 0 ? kUntilHealed : 0, cable.clogUntil = 0;",
    ),
]


def planted(file: str) -> str:
    text = (ROOT / file).read_text()
    for fault in FAULTS:
        if fault.file != file:
            continue
        if text.count(fault.before) != 1:
            sys.exit(f"{file}: the place of the planted fault {fault.name} is not there: see tests/sim/plant.py")
        text = text.replace(fault.before, fault.after.replace("PLANTED", f"kv::planted(kv::Mutant::{fault.name})"))
    return f'#include "tests/sim/mutants.h"\n{text}'


def main(arguments: list[str]) -> int:
    if arguments == ["--files"]:
        print(";".join(dict.fromkeys(fault.file for fault in FAULTS)))
    else:
        source, output = arguments
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        Path(output).write_text(planted(source))
    return 0


sys.exit(main(sys.argv[1:]))
