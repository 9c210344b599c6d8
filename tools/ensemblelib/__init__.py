"""Many seeds of simulations: run, kept in a ledger, and what fails made small."""
