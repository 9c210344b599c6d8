"""What is wrong with a tree, or likely to be: errors first, then advice."""
