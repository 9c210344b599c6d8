"""An error that ends a tool, usually with exit code 1."""


class Failure(Exception):
    """Something that the tool needs did not work; the text says what, with its output."""
