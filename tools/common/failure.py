"""What ends a tool, with an exit code of 1 as a rule."""


class Failure(Exception):
    """Something that the tool needs did not work; the text says what, and what it printed."""
