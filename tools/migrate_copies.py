"""migrate_copies.py FOLDER FILE...: makes FOLDER anew, with what `actorc migrate` makes of the files."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copies = [shutil.copy(file, folder) for file in sys.argv[2:]]
    command = [sys.executable, "-S", str(ROOT / "actorc"), "migrate", "--write", "--jobs=1", *copies]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode:
        print(run.stdout + run.stderr, file=sys.stderr)
    return run.returncode


sys.exit(main())
