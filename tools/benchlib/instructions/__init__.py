"""tools/bench instructions: counts the instructions of an operation."""
