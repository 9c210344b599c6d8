"""tools/bench without a command: the cost of a wait, in each style and beside other libraries."""
