"""tools/bench allocators: FastAllocator beside others."""
