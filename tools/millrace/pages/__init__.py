"""Pages of tables, charts and flame graphs that need no other file and no network."""
