"""A run is one folder: what it was made from, how it went, and what came out."""
