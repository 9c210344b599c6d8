"""What tools/port is made of: the vocabulary of Flow, the scan of a code base, and the report."""
