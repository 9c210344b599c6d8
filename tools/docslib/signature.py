"""What a declaration says before its body, and the name that it declares."""

from __future__ import annotations

import re

_TRAILING = re.compile(r'^((?:[^"/]|"(?:\\.|[^"\\])*"|/(?!/))*?)\s*//.*$')
_QUIET = re.compile(r'"(?:\\.|[^"\\])*"|//.*')
_OPERATOR = re.compile(r"\boperator ?(?:\(\)|[^(]+)(?=\()")
_FUNCTION = re.compile(r"(?<![\w:~])(~?[A-Za-z_]\w*)\(|\(\*(\w+)\)\(")
_NO_NAME = re.compile(
    r"\[\[.*?\]\]|\b(?:decltype|noexcept|requires|alignas|explicit|__attribute__)\(+.*?\)+", re.DOTALL
)
_ARGUMENTS = re.compile(r"(?<=\w)<[^<>]*>")  # of a template
_VARIABLE = re.compile(r"(\w+)(?:\[[^\]]*\])*(?: = .*| : \d+|\{.*)?;?$", re.DOTALL)
_INITIALIZERS = re.compile(r"\)(\s*noexcept)?\s*:(?!:)")


def declared_name(code: str) -> str | None:
    """A function's has (), an operator's is empty. None for the definition of a member."""
    plain = _NO_NAME.sub("", without_comment(code))
    if _OPERATOR.search(plain):
        return None if re.search(r"::operator", plain) else ""
    before = re.split(r" =\s", plain, maxsplit=1)[0]
    while (without := _ARGUMENTS.sub("", before)) != before:
        before = without
    function = _FUNCTION.search(before)
    if function:
        return function[2] or function[1] + "()"
    variable = _VARIABLE.search(before.strip())
    return variable[1] if variable and "(" not in before and f"::{variable[1]}" not in before else None


def without_body(text: str) -> str:
    """Without the body and what initializes members."""
    depth = 0
    for at, character in enumerate(_QUIET.sub(lambda match: " " * len(match[0]), text)):
        depth += (character in "([") - (character in ")]")
        if character == "{" and depth == 0:
            text = text[:at].rstrip().removesuffix("=").rstrip() + ";"
            break
    match = _INITIALIZERS.search(text)
    return text[: match.start() + 1] + (match[1] or "") + ";" if match else text


def without_comment(line: str) -> str:
    match = _TRAILING.match(line)
    return (match[1] if match else line).rstrip()
