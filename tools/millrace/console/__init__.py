"""millrace console: the client, what is found about a program, and the page that shows it."""
