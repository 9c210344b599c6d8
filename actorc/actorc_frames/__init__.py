"""How large actors and coroutines are, and what takes the space: from debug information. Loaded for --frames only."""
