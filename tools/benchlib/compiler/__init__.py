"""tools/bench compiler: measures the cost of actorc."""
