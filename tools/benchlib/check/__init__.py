"""tools/bench check: whether an operation takes more than it did."""
