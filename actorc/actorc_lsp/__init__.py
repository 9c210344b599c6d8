"""`actorc lsp`: a language server, which shows in an editor what actorc finds."""
