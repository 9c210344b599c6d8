"""What tools/profile is made of: samples of a program, the times of its tasks, and the page that shows them."""
