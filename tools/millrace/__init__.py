"""The command `millrace`: a folder for each of its commands, and in common/ what they share."""
