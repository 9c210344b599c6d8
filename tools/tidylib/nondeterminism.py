"""Finds sources of nondeterminism: the machine's clocks, threads and entropy, and the order of addresses and hashes.

For tools/tidy.py. Simulated code must do the same in every run of a seed, with every compiler and library. A comment at
the end of a line, or above it, allows an exception: `// nondeterminism: why`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_ADDRESSES = "an order by addresses; use a number or a name of what is pointed to"

# What is found, and what to use instead.
RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), message)
    for pattern, message in (
        (
            r"\b(?:steady|system|high_resolution|utc|tai|gps|file)_clock\b"
            r"|\b(?:clock_gettime|gettimeofday|timespec_get|ftime)\s*\("
            r"|(?<![\w.>])(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0|&)"
            r"|\b(?:local|gm)time(?:_r)?\s*\("
            r"|(?:\bstd|(?<!\w))::clock\s*\("
            r"|\b_*(?:builtin_ia32_)?rdtscp?\b",
            "the machine's clock; the loop has the time: now(), Loop::current().timer()",
        ),
        (
            r"\brandom_device\b|\b(?:getrandom|getentropy|arc4random\w*|[de]rand48|random_r)\s*\("
            r"|(?<![\w.>])(?:std::|::)?s?rand\s*\(",
            "numbers that do not repeat; use deterministicRandom(), or a DeterministicRandom with a seed",
        ),
        (
            r"\bstd::(?:mt19937\w*|minstd_rand0?|ranlux\w+|knuth_b|default_random_engine|mersenne_twister_engine"
            r"|\w+_distribution|shuffle|sample)\b",
            "numbers that differ between libraries; use DeterministicRandom",
        ),
        (
            r"\bunordered_(?:multi)?(?:map|set)\s*<",
            "an order that differs between libraries; use std::map or std::set, or say that it is never iterated over",
        ),
        (
            r"\bstd::(?:less|greater|hash)\s*<[^<>]*\*\s*>",
            _ADDRESSES,
        ),
        (
            r"\bstd::(?:this_thread|j?thread|async)\b|\bthread::id\b|\b(?:pthread_self|gettid|getpid|sched_getcpu)\s*\(",
            "threads and their ids are the machine's; what waits uses delay() or yield()",
        ),
    )
)

_TOKEN = re.compile(
    r"(?P<draw>\b(?:random01|randomInt|randomInt64|randomUInt32|randomUInt64|randomSkewedUInt32|randomUniqueID"
    r"|randomChoice|randomAlphaNumeric|coinflip|faultDuration)\s*\()"
    r"|(?P<head>\b(?:if|while|for|switch)\s*(?:constexpr\s*)?\()|(?P<open>\()|(?P<close>\))"
    # The operands of these are evaluated in order, and so are statements.
    r"|(?P<sequenced>[;{}]|&&|\|\||\?|(?<!:):(?!:))"
)
_TWO_DRAWS = "two random numbers in one expression: compilers differ in which they draw first; draw them one by one"

_SORTED = re.compile(r"\b(?:std::(?:pmr::)?)?(?:multi)?(?:map|set)\s*<")
_POINTER = re.compile(r"\*|\b(?:Reference|shared_ptr|unique_ptr)\s*<")

_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'(?!\w)')
_EXCUSE = re.compile(r"//.*\bnondeterminism: \S")


def sources_of_nondeterminism(lines: list[str]) -> Iterator[tuple[int, str]]:
    """(line, what is wrong with it) for a C++ file."""
    code = [_code(line) for line in lines]
    for number, line in enumerate(code, 1):
        if _is_excused(lines, number) or line.lstrip().startswith("#"):
            continue
        for pattern, message in RULES:
            if match := pattern.search(line):
                yield number, f"{match[0].strip()}: {message}"
    for number, found in _keys("\n".join(code)):
        if not _is_excused(lines, number):
            yield number, f"{found}: {_ADDRESSES}"
    for number in _two_draws(code):
        if not _is_excused(lines, number):
            yield number, _TWO_DRAWS


def _code(line: str) -> str:
    return _LITERAL.sub('""', line).split("//")[0]


def _is_excused(lines: list[str], number: int) -> bool:
    if _EXCUSE.search(lines[number - 1]):
        return True
    above = number - 2
    while above >= 0 and lines[above].lstrip().startswith("//"):
        if _EXCUSE.search(lines[above]):
            return True
        above -= 1
    return False


def _keys(text: str) -> Iterator[tuple[int, str]]:
    """The sorted containers with pointers among their keys."""
    for match in _SORTED.finditer(text):
        depth, end = 1, match.end()
        while end < len(text) and depth > 0 and not (depth == 1 and text[end] in ",;{"):
            depth += {"<": 1, ">": -1}.get(text[end], 0)
            end += 1
        if _POINTER.search(text, match.end(), end):
            yield text.count("\n", 0, match.start()) + 1, " ".join(text[match.start() : end].split())


def _two_draws(code: Iterable[str]) -> Iterator[int]:
    """The lines on which an expression draws a second random number."""
    drawn = False
    heads: list[bool] = []  # of each parenthesis that is open: whether it is that of an if or a loop
    for number, line in enumerate(code, 1):
        for token in _TOKEN.finditer(line):
            match token.lastgroup:
                case "draw":
                    heads.append(False)
                    if drawn:
                        yield number
                    drawn = True
                case "head" | "open":
                    heads.append(token.lastgroup == "head")
                case "close":
                    drawn &= not (heads and heads.pop())
                case _:
                    drawn = False
