"""What tools/profile is made of: samples of a program, the times of its steps, and the page that shows them."""
