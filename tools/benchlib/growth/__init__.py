"""tools/bench growth: the cost of an actor by the number of actors."""
