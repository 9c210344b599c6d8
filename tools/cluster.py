"""tools/cluster: finds the command and runs it."""

from __future__ import annotations

import sys

from millrace.common.dispatch import run

USAGE = """\
usage: tools/cluster kv [--processes N]      servers of a replicated store on this machine

tools/cluster kv --help says more."""

if __name__ == "__main__":
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(USAGE)
        sys.exit(0)
    sys.exit(run("tools/cluster", {"kv": "clusterlib.kv_command"}))
