"""The pages behind `actorc --explain`: one for each code, in `explanations/`.

A page is Markdown: a title line, what the fault means and why the rule exists, a wrong example and a right one:

    # A0501: break or continue outside a loop
    ...
    ## Wrong
    ```cpp
    ...
    ```
    ## Right
    ```cpp
    ...
    ```
"""

from __future__ import annotations

import re
from pathlib import Path

from actorc.diagnostics import RETIRED, Fault
from actorc.records import dataclass

FOLDER = Path(__file__).with_name("explanations")
_SECTION = re.compile(r"^## (Wrong|Right)$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    text: str

    @property
    def wrong(self) -> tuple[str, ...]:
        """The examples that are reported with the page's code, and with nothing else."""
        return self._examples("Wrong")

    @property
    def right(self) -> tuple[str, ...]:
        return self._examples("Right")

    def _examples(self, heading: str) -> tuple[str, ...]:
        return tuple(
            text for name, part in _SECTION.findall(self.text) if name == heading for text in _EXAMPLE.findall(part)
        )


def page(code: str) -> Page:
    """The page of a code that is in use."""
    return Page((FOLDER / f"{code}.md").read_text(encoding="utf-8"))


def explanation(code: str) -> str | None:
    """What `--explain CODE` prints; None if there is no such code."""
    code = code.upper()
    if code in RETIRED:
        return f"# {code}\n\nThis code is not in use: {RETIRED[code]}\n"
    return page(code).text if code in {fault.code for fault in Fault} else None


def listing() -> str:
    """All codes with their titles."""
    return "".join(f"{fault.code}  {fault.severity.value:7}  {fault.title}\n" for fault in Fault)
