"""Whether a migrated program means what it meant: both are compiled, run and compared."""
