"""The parts of tools/tidy.py."""
