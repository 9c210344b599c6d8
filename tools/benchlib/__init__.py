"""The parts of tools/bench: a folder for each of its commands, and shared modules."""
