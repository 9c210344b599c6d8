"""What the tools have in common."""
