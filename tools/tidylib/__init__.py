"""What tools/tidy.py is made of."""
