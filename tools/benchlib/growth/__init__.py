"""tools/bench growth: what an actor costs among few, and among very many."""
