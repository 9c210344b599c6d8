"""What tools/fuzz is made of."""
