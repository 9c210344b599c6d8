"""The digests of some seeds of kv are those of digests.expected, in every build: check_digests.py PROGRAM [--write].

--write: makes the file anew, for when kv itself, or what is simulated, has changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

EXPECTED = Path(__file__).with_name("digests.expected")


def digests(program: str) -> str:
    command = [program, "--run", "kv", "--seeds", "0..4", "--once"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    results = [json.loads(line) for line in done.stdout.splitlines() if not line.startswith('{"begin"')]
    return "".join(f"{one['seed']}: {one['digest']} after {one['events']} events\n" for one in results)


def main() -> int:
    found = digests(sys.argv[1])
    if sys.argv[2:] == ["--write"]:
        EXPECTED.write_text(found)
    elif found != EXPECTED.read_text():
        print(f"the digests are\n{found}and not\n{EXPECTED.read_text()}If they should be: {__file__} PROGRAM --write")
        return 1
    return 0


sys.exit(main())
