"""tools/bench net: operations made of operations, binding, and echo servers."""
