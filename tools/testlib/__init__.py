"""The parts of tools/test."""
