"""Who may enter: one-time links, sessions, tokens, and the checks of each request."""
