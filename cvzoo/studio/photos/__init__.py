"""Images: stored once by their SHA-256, and looked at by processes with limits."""
