"""tools/bench profile: where the time of a benchmark goes, by cause, in each style."""
