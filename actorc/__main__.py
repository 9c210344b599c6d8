"""Runs the compiler from where it lies, without installing it: `python FOLDER INPUT OUTPUT`."""

from actorc.__main__ import command

command()
