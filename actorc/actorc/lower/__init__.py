"""From the tree to the form that both back ends print."""
