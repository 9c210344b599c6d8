"""tools/bench compare: whether one build of the benchmarks is faster than another."""
