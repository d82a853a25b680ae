"""Processes besides the server: the supervisor of a training, and a helper that knows recipes."""
