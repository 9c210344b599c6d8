"""Flame graphs of folded stacks, which a page of millrace.pages shows.

stacks = Stacks("ns per item")
stacks.add(("main", "run", "resume"), 12.5)  # outermost first; the weight is what was spent in the last frame itself
graph = flame_graph(stacks)
graph = difference_graph(stacks, others, names=("ACTOR", "coroutine"))

Stacks are in `millrace.flame.stacks`, flame_graph() and difference_graph() in `millrace.flame.graph`. Plotly draws
them, from pages/templates/page.js.
"""
