"""millrace completion: prints a script for a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module

from millrace.commands import COMMANDS


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    says: str = ""
    takes: tuple[str, ...] | None = None  # an option's values; (): any, such as a file; None: none


@dataclass(slots=True)
class Place:
    """Behind the words of `after`, such as "simulate run"."""

    after: str
    words: list[Word] = field(default_factory=list)


def places() -> list[Place]:
    result = [Place("", [Word(name, command.says) for name, command in COMMANDS.items()])]
    for name in COMMANDS:
        result += _places(name, import_module(f"millrace.{name}.arguments").parser())
    return result


def _places(after: str, parser: argparse.ArgumentParser) -> Iterator[Place]:
    place = Place(after)
    yield place
    for action in parser._actions:
        says = (action.help or "") % {"default": action.default}
        choices = tuple(map(str, action.choices or ()))
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in action._choices_actions}
            place.words += [Word(name, helps.get(name, "")) for name in action.choices]
            for name, inner in action.choices.items():
                yield from _places(f"{after} {name}", inner)
        elif action.option_strings:
            takes = None if action.nargs == 0 else choices
            place.words.append(Word(action.option_strings[-1], says, takes))
        else:
            place.words += [Word(choice, says) for choice in choices]


def _cases(found: list[Place]) -> str:
    """For bash and zsh: `list` becomes the words behind `key`, and behind the option `last` of it."""
    lines = ["    case $key in"]
    lines += [f"        '{place.after}') list='{' '.join(word.text for word in place.words)}' ;;" for place in found]
    lines += ["    esac", '    case "$key $last" in']
    for place in found:
        for word in place.words:
            if word.takes is not None:
                lines.append(f"        '{place.after} {word.text}') list='{' '.join(word.takes)}' ;;")
    nested = [place.after for place in found if " " in place.after]
    pairs = "|".join(f"'{pair}'" for pair in nested)
    return "\n".join([f'    case "$key $second" in {pairs}) key="$key $second" ;; esac', *lines, "    esac"])


def bash(found: list[Place]) -> str:
    return f"""\
_millrace() {{
    local key= second= last=${{COMP_WORDS[COMP_CWORD - 1]}} list=
    ((COMP_CWORD < 2)) || key=${{COMP_WORDS[1]}}
    ((COMP_CWORD < 3)) || second=${{COMP_WORDS[2]}}
{_cases(found)}
    COMPREPLY=($(compgen -W "$list" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _millrace millrace"""


def zsh(found: list[Place]) -> str:
    return f"""\
#compdef millrace
_millrace() {{
    local key= second= last=${{words[CURRENT - 1]}} list=
    ((CURRENT < 3)) || key=${{words[2]}}
    ((CURRENT < 4)) || second=${{words[3]}}
{_cases(found)}
    if [[ -n $list ]]; then compadd -- ${{=list}}; else _files; fi
}}
if [[ $funcstack[1] == _millrace ]]; then _millrace "$@"; else compdef _millrace millrace; fi"""


def fish(found: list[Place]) -> str:
    lines = []
    for place in found:
        tests = [f"__fish_seen_subcommand_from {word}" for word in place.after.split()] or ["__fish_use_subcommand"]
        inner = [each.after.split()[-1] for each in found if place.after and each.after.startswith(f"{place.after} ")]
        tests += [f"not __fish_seen_subcommand_from {' '.join(inner)}"] if inner else []
        seen = "; and ".join(tests)
        for word in place.words:
            says = word.says.replace("\\", "\\\\").replace("'", "\\'")
            what = f"-l {word.text[2:]}" if word.text.startswith("--") else f"-fa {word.text}"
            if word.takes is not None:
                what += f" -xa '{' '.join(word.takes)}'" if word.takes else " -r"
            lines.append(f"complete -c millrace -n '{seen}' {what} -d '{says}'")
    return "\n".join(lines)


def main(options: argparse.Namespace) -> int:
    print({"bash": bash, "zsh": zsh, "fish": fish}[options.shell](places()))
    return 0
