"""Modules of tools/mutants."""
