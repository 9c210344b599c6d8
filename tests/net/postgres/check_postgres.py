"""Runs the tests of net/postgres/ with a server of their own: check_postgres.py PROGRAM [SHOP].

SHOP is net/examples/shop.cpp, which net/docs/postgres.md shows with what it prints.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.append(str(HERE))

from server import programs, running  # noqa: E402


def check_page(shop: str, url: str) -> None:
    page = (ROOT / "net/docs/postgres.md").read_text(encoding="utf-8")
    source = (ROOT / "net/examples/shop.cpp").read_text(encoding="utf-8")
    assert f'```cpp title="shop.cpp"\n{source}```\n' in page, (
        "the page shows another program than net/examples/shop.cpp"
    )
    done = subprocess.run([shop, url], capture_output=True, text=True, check=False)
    assert f'$ ./shop "host=/run/postgresql dbname=shop"\n{done.stdout}```\n' in page, done.stdout + done.stderr


def check_queries(url: str) -> None:
    """Those of net/docs/http_service.md, whose program is compiled with the other ones of the page."""
    page = (ROOT / "net/docs/http_service.md").read_text(encoding="utf-8")
    (schema,) = re.findall(r'^```sql title="orders.sql"\n(.*?)^```$', page, re.DOTALL | re.MULTILINE)
    calls = re.findall(r'pool_\.\w+<.+?>\(((?:\s*".*")+)', page)
    add, find = ("".join(re.findall(r'"(.*)"', call)) for call in calls)
    prepare = f"BEGIN; {schema} PREPARE add AS {add}; PREPARE find AS {find};"
    run = "EXECUTE add('a', 'tea', 2); EXECUTE add('a', 'tea', 2); EXECUTE find(1); ROLLBACK;"
    command = ["psql", url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", prepare + run]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "1\n1\ntea|2\n", done.stdout + done.stderr


def main() -> int:
    if not programs():
        print("skipped: PostgreSQL is not installed; tools/setup tests installs it")
        return 0
    program, *shops = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="millrace-") as parent:
        pathlib.Path(parent).chmod(0o755)  # the server has another user
        folder = pathlib.Path(parent) / "postgres"
        with running(folder) as url:
            check_queries(url)
            for shop in shops:
                check_page(shop, url)
            restart = f"{sys.executable} {HERE}/server.py restart {folder}"
            variables = {**os.environ, "MILLRACE_POSTGRES": url, "MILLRACE_POSTGRES_RESTART": restart}
            return subprocess.run([program], env=variables, check=False).returncode


sys.exit(main())
