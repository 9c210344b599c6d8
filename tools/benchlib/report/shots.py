"""Makes PNGs of the charts, drawings, flame graphs and tables of a report, with a headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from millrace.common.failure import Failure
from millrace.common.files import write
from millrace.pages.model import Chart, Drawing, Flame, Grid, Part, Report, Section
from millrace.pages.page import render

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_WIDTH, _HEIGHT = 1240, 6000  # of the window; unused space is cut off
_MARGIN = 12
_SECONDS = 60
# The page around one part of it.
_ALONE = """
<style>
header, nav, h2, .lead, .anchor, noscript { display: none; }
body { display: block; max-width: none; padding: 16px; }
h3 { margin: 0; }
.flame input, .chart details { display: none; }
.box { max-height: none; overflow: visible; border: 0; }
table { width: auto; }
</style>
</head>
"""


def browser() -> str:
    if found := next((path for name in BROWSERS if (path := shutil.which(name))), None):
        return found
    raise Failure("pictures need a headless Chromium: `tools/setup tests` installs it")


def write_shots(report: Report, folder: Path, program: str) -> list[Path]:
    """A file for each, named by its id: light, as wide as a page."""
    files = []
    with tempfile.TemporaryDirectory(prefix="millrace-shots-") as name:
        for part in report.parts():
            if isinstance(part, Chart | Drawing | Flame | Grid):
                file = folder / f"{part.id}.png"
                write(file, _cut(_shot(part, Path(name), program)))
                files.append(file)
    return files


def _shot(part: Part, folder: Path, program: str) -> bytes:
    shown = replace(part, folded=False) if isinstance(part, Grid) else part
    page, file = folder / "page.html", folder / "shot.png"
    text = render(Report("", "", [], [Section("part", "", "", [shown])])).replace("</head>", _ALONE, 1)
    page.write_text(text, encoding="utf-8")
    command = [
        program,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=10000",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={_WIDTH},{_HEIGHT}",
        "--blink-settings=preferredColorScheme=1",
        f"--screenshot={file}",
        page.as_uri(),
    ]
    file.unlink(missing_ok=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{program} has not drawn a picture in {_SECONDS} seconds") from error
    if not file.exists():
        raise Failure(f"{program} has drawn no picture: {done.stderr.strip()[-300:]}")
    return file.read_bytes()


def _cut(picture: bytes) -> bytes:
    """Without the white around it."""
    from PIL import Image, ImageChops  # `tools/setup report` installs it

    image = Image.open(BytesIO(picture)).convert("RGB")
    used = ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox()
    if used:
        left, top, right, bottom = used
        edges = (max(0, left - _MARGIN), max(0, top - _MARGIN), right + _MARGIN, bottom + _MARGIN)
        image = image.crop((*edges[:2], min(image.width, edges[2]), min(image.height, edges[3])))
    result = BytesIO()
    image.save(result, format="png")
    return result.getvalue()
