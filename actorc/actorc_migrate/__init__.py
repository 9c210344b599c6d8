"""`actorc migrate`: actors become C++20 coroutines, as edits of the text that their author wrote."""
