"""Runs many seeds of simulations, records the results in a ledger, and shrinks failures."""
