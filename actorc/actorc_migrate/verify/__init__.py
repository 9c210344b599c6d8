"""Checks that a migrated program has the same meaning: compiles, runs and compares both versions."""
