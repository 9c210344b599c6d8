"""tools/bench instructions: how many instructions an operation takes."""
