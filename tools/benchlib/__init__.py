"""What tools/bench is made of: a folder for each of its commands, and what they share."""
