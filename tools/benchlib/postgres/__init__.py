"""tools/bench postgres: measures PostgreSQL clients, ours and others'."""
