"""What tools/cluster is made of: the servers, what they say, and the table that shows it."""
