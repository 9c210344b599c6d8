"""From the lowered form to C++."""
