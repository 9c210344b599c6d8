"""millrace completion: what the shell offers behind `millrace`, from the arguments of all commands."""
