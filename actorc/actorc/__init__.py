"""actorc: compiles `.actor.cpp` into state machines or C++20 coroutines."""

__version__ = "0.1.0"
