"""tools/fuzz: tests with random inputs."""

from __future__ import annotations

import os
import sys

from common.tree import ROOT
from millrace.common.process import interrupt_on_terminate

sys.path.insert(0, str(ROOT / "actorc"))
sys.path.insert(0, str(ROOT / "tests"))

from actorc.driver import BACKENDS
from fuzzlib import parser_command, programs_command
from fuzzlib.forms import migrated_forms
from fuzzlib.options import parse_arguments


def main() -> int:
    interrupt_on_terminate()
    options = parse_arguments()
    jobs = options.jobs or os.cpu_count() or 1
    if options.parser:
        if options.only is not None:
            return parser_command.only(options.seed, options.only)
        return parser_command.fuzz_parser(options.executions or 100_000, options.seed, jobs)
    first = options.first or 0
    indices = range(first, first + (options.programs or 0))
    if options.program is not None:
        indices = range(options.program, options.program + 1)
    forms = migrated_forms(options.migrate) if options.migrate else BACKENDS
    return programs_command.fuzz_programs(options.seed, indices, jobs, options.compiler, forms)


if __name__ == "__main__":
    sys.exit(main())
