"""millrace bench: measures, compares and explains programs of benchmarks (flow/testing/benchmark.h)."""
