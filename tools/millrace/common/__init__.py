"""What the commands share: arguments, failures, processes, files, and output on a terminal. The other tools of this
project use it as well."""
