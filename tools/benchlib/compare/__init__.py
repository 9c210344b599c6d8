"""tools/bench compare: compares the speed of two builds of the benchmarks."""
