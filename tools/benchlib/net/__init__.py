"""tools/bench net: measures composed operations, binding, and echo servers."""
