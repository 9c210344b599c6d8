"""From text to the tree of `syntax.py`."""
