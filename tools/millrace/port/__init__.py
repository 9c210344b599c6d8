"""millrace port: what a code base uses of Flow."""
