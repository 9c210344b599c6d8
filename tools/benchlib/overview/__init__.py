"""tools/bench without a command: what a wait costs, in each style and beside other libraries."""
