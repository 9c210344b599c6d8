"""Flame graphs: self-contained, interactive SVG from folded stacks.

stacks = Stacks("ns per item")
stacks.add(("main", "run", "resume"), 12.5)  # outermost first; the weight is what was spent in the last frame itself
svg = flame_svg(stacks, "NET2/4096, ACTOR")
svg = difference_svg(stacks, others, "NET2/4096", names=("ACTOR", "coroutine"))

Stacks are in `benchlib.flame.stacks`, flame_svg() and difference_svg() in `benchlib.flame.graph`. The text is a file
that any browser shows, without network; placed as it is into the body of an HTML page it works as well, any number of
times.
"""
