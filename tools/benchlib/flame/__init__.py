"""Flame graphs: self-contained, interactive SVG from folded stacks.

stacks = Stacks("ns per item")
stacks.add(("main", "run", "resume"), 12.5)  # outermost first; the weight is what was spent in the last frame itself
svg = flame_svg(stacks, "NET2/4096, ACTOR")
svg = difference_svg(stacks, others, "NET2/4096", names=("ACTOR", "coroutine"))

Stacks are in `benchlib.flame.stacks`, flame_svg() and difference_svg() in `benchlib.flame.graph`. The SVG works as a
file in any browser, without network, and inside the body of an HTML page, any number of times.
"""
