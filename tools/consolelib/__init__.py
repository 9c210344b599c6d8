"""What tools/console is made of: the client, what is found about a program, and the page that shows it."""
