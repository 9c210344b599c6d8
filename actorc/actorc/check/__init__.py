"""Checks of a tree: first for errors, then for likely mistakes."""
