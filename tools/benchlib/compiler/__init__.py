"""tools/bench compiler: what actorc costs."""
