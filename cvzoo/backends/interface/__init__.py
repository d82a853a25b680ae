"""Parts of the interface that every backend has; the whole is `cvzoo.backends.abstract`."""
