"""Finds the public declarations of a header, with their `///` comments, by the indentation that clang-format gives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile

from docslib.signature import declared_name, without_body, without_comment

_INDENT = 4
_NAMESPACE = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{|extern \"C\" \{")
_MACRO = re.compile(r"#\s*define ([A-Z]\w*[A-Z0-9](\([^)]*\))?)(?=\s|$)")
_USE = re.compile(r"[A-Z_0-9]{4,}\(.*\)$")  # of a macro
_ACCESS = re.compile(r"(public|protected|private):$")
_BEFORE_MAIN = re.compile(r"template\b| *requires\b| {8}|\[\[.*\]\]$")
_TYPE = re.compile(
    r"(?:class|struct|union|enum class|enum)\b(?: (?:\[\[.*?\]\]|[A-Z_]{4,}\b|alignas\(\S*\)))* ?(\w[\w:]*)?(<)?"
)
_LEFT_OUT = re.compile(
    r"\b(?:inline|FLOW_INLINE|FLOW_RARE)\s+(?!namespace)"
    r"|(?:,\s+)?(?:detail::Caller|std::source_location) caller = [\w:]+\(\)"
)
_SKIPPED = re.compile(
    r"\A(?:friend class\b|static_assert\b|using namespace\b|using [\w:]+;|extern template\b|[A-Z_0-9]{4,}\(|\})"
    r"|= delete;\Z|\A(?!auto\b)\w+\([^{]*\) -> \w+<[^{]*>;\Z"  # the last: a deduction guide
)
_COPY = re.compile(r"(?:\w+(?:<.*>)?& operator=|(?:constexpr )?\w+)\(\w+(?:<.*>)?(?: const)?&&?(?: \w+)?\)")


@dataclass(frozen=True, slots=True)
class Declaration:
    name: str  # of a function with (); "" for an operator
    code: str
    comment: list[str]
    is_type: bool
    members: list[Declaration] = field(default_factory=list)


def declarations(text: str) -> list[Declaration]:
    """Those outside of `namespace detail` and of namespaces without a name, and macros that a comment explains."""
    lines = text.splitlines()
    opening = "\n".join(takewhile(lambda line: line.startswith(("#pragma", "//")), lines))
    undefined = {line.split()[1] for line in lines if line.startswith("#undef")}

    def is_left_out(macro: str) -> bool:
        return macro in undefined or (macro.startswith("FLOW_") and macro not in re.findall(r"\w+", opening))

    return [
        each
        for each in _scope(lines, 0, shown=True)
        if each.comment or not each.code.startswith("#define") or not is_left_out(each.name.removesuffix("()"))
    ]


def _scope(lines: list[str], indent: int, shown: bool) -> list[Declaration]:
    found: list[Declaration] = []
    namespaces: list[bool] = []
    comment: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("///"):
            comment.append(line[3:].removeprefix(" "))
            at += 1
            continue
        begin, at = at, _end(lines, at, indent)
        access, namespace = _ACCESS.match(line), _NAMESPACE.match(line)
        if access:
            shown = access[1] == "public"
        elif namespace and "}" not in line:
            namespaces.append(namespace[1].rpartition("::")[2] not in ("detail", "") or "extern" in line)
            at = begin + 1
        elif line.startswith("}") and namespaces:
            namespaces.pop()
        elif line and shown and all(namespaces) and not line.startswith("//"):
            one = _declaration(lines[begin:at], indent, comment)
            same = next((i for i, other in enumerate(found) if one and one.code == other.code), None)
            if one and same is None:
                found.append(one)
            elif one and same is not None and not found[same].comment:
                found[same] = one  # the first one only declares it
        comment = []
    return found


def _end(lines: list[str], begin: int, indent: int) -> int:
    """The line behind what begins here: a directive, a comment, or a declaration with its body."""
    line = lines[begin].strip()
    at = begin + 1
    if line.startswith("#"):
        while lines[at - 1].endswith("\\"):
            at += 1
        return at
    if not line or line.startswith("//") or _ACCESS.match(line) or _USE.match(line):
        return at
    while at < len(lines) and not without_comment(lines[at - 1]).endswith((";", "{", "}")):
        at += 1
    if without_comment(lines[at - 1]).endswith("{"):
        while at < len(lines) and not lines[at].startswith(" " * indent + "}"):
            at += 1
        at += 1
    return at


def _declaration(lines: list[str], indent: int, comment: list[str]) -> Declaration | None:
    if lines[0].startswith("#"):
        macro = _MACRO.match(lines[0])
        if not macro or indent:
            return None
        name = macro[1].partition("(")[0]
        return Declaration(name + "()" if macro[2] else name, f"#define {macro[1]}", comment, False)
    lines = [line[indent:] for line in lines if not line.startswith("#")]
    first = next((i for i, line in enumerate(lines) if not _BEFORE_MAIN.match(line)), 0)
    main = _LEFT_OUT.sub("", "\n".join(lines[first:]))
    kind = _TYPE.match(main)
    is_only_declared = kind and ("{" not in main or (kind[2] and not comment))  # or a specialization
    if is_only_declared or _SKIPPED.search(main) or (main.startswith("friend ") and not comment):
        return None
    template = "".join(line + "\n" for line in lines[:first])
    if kind and main.startswith("enum"):
        return Declaration(kind[1] or "", template + main, comment, True)
    if kind:
        body = lines[next(i for i, line in enumerate(lines) if "{" in line) + 1 : -1]
        head = main[: main.index("{")].rstrip() if "\n" in main else main.removesuffix(";")
        members = _scope(body, _INDENT, not main.startswith("class"))
        return Declaration(kind[1] or "", template + head + ";", comment, True, members)
    code = main if main.startswith(("using ", "concept ")) else without_body(main)
    name = declared_name(code)
    if name is None or (not comment and (_COPY.match(code) or name.endswith(("_", "_()")) or "~" in code)):
        return None
    return Declaration(name, template + code, comment, False)
