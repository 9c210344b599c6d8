"""`actorc check`: finds the traps of coroutines in actor files and in plain C++."""
