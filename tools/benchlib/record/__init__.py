"""The command tools/bench record."""
