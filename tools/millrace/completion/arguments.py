"""The arguments of millrace completion."""

from __future__ import annotations

from millrace.common.arguments import CommandParser

DESCRIPTION = """\
Prints a script with which a shell completes the words of this command. Once:

  millrace completion bash > ~/.local/share/bash-completion/completions/millrace
  millrace completion zsh > ~/.zfunc/_millrace    # a folder of $fpath, before compinit
  millrace completion fish > ~/.config/fish/completions/millrace.fish"""


def parser() -> CommandParser:
    result = CommandParser("millrace completion", DESCRIPTION)
    result.add_argument("shell", choices=("bash", "zsh", "fish"))
    return result
