"""What tools/bench and tools/test are made of."""
