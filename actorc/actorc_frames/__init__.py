"""Sizes and contents of the frames of actors and coroutines, from debug information. Loaded for --frames only."""
