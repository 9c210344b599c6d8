"""tools/bench check: finds operations that need more than they did."""
