"""tools/bench frames: the bytes of every actor and coroutine of the benchmarks."""
