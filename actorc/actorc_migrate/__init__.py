"""`actorc migrate`: rewrites actors as C++20 coroutines, by edits of their author's text."""
