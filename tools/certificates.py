"""Makes certificates and keys for tests, by calling openssl. Start it as tools/certificates.

In DIRECTORY, NAME.pem is a certificate and NAME.key its key; all are RSA with 2048 bits and valid for ten years:

  ca         the authority that signs those below, except the last two
  server     for localhost, 127.0.0.1, ::1 and example.org
  other      for other.example.org and *.wild.example.org
  client     for a client, named client
  expired    for localhost, but not valid any more
  strangers  another authority, which no peer trusts
  stranger   for localhost, signed by that one

Never use them outside of tests: with the keys anybody can sign as the authority.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

YEARS = 10
DAYS = 365 * YEARS
LOCAL = ("DNS:localhost", "IP:127.0.0.1", "IP:::1")


class Failure(Exception):
    """openssl is missing or has failed; the text says how."""


def openssl(*arguments: str | Path) -> None:
    try:
        run = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise Failure("there is no program openssl; `tools/setup tools` installs it") from error
    if run.returncode:
        raise Failure(f"openssl {arguments[0]} has failed:\n{run.stderr.strip()}")


def make_authority(folder: Path, name: str) -> None:
    files = ("-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem")
    subject = f"/O=Millrace tests/CN={name}"
    extensions = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", *files, "-subj", subject, "-days", str(DAYS), *extensions)


def make_certificate(folder: Path, name: str, authority: str, names: tuple[str, ...] = (), days: int = DAYS) -> None:
    request, extensions = folder / f"{name}.csr", folder / f"{name}.ext"
    subject = f"/O=Millrace tests/CN={name}"
    openssl(
        "req", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / f"{name}.key", "-out", request, "-subj", subject
    )
    lines = ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature,keyEncipherment"]
    lines += ["extendedKeyUsage=serverAuth,clientAuth"]
    if names:
        lines += [f"subjectAltName={','.join(names)}"]
    extensions.write_text("\n".join(lines) + "\n", encoding="ascii")
    signer = ("-CA", folder / f"{authority}.pem", "-CAkey", folder / f"{authority}.key", "-CAcreateserial")
    to = ("-out", folder / f"{name}.pem", "-days", str(days), "-extfile", extensions)
    openssl("x509", "-req", "-in", request, *signer, *to)
    for used in (request, extensions, folder / f"{authority}.srl"):
        used.unlink(missing_ok=True)


def make_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    make_authority(folder, "ca")
    make_authority(folder, "strangers")
    make_certificate(folder, "server", "ca", (*LOCAL, "DNS:example.org"))
    make_certificate(folder, "other", "ca", ("DNS:other.example.org", "DNS:*.wild.example.org"))
    make_certificate(folder, "client", "ca")
    make_certificate(folder, "expired", "ca", LOCAL, days=0)
    make_certificate(folder, "stranger", "strangers", LOCAL)


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("tools/certificates", description=__doc__, formatter_class=form)
    parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="is made if it is not there")
    try:
        make_all(parser.parse_args().directory)
    except (Failure, OSError) as error:
        print(f"certificates: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
