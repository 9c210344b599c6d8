"""millrace profile: samples of a program and their causes, the times of its steps, and the page that shows them."""
