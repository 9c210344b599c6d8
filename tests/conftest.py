"""Runs before any test is imported."""

# pytest would take the folders tests/actorc and tests/actorc/migrate for these packages if they were not loaded yet.
import actorc
import actorc.migrate  # noqa: F401
