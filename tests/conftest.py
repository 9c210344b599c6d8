"""Runs before any test is imported."""

import actorc  # noqa: F401  pytest would take the folder tests/actorc for this package if it were not loaded yet
