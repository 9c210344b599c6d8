"""How diagnostics are shown, to people and to programs."""
