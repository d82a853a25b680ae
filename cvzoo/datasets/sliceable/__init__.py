"""Data sets that can be cut by examples and by keys without reading what is cut away."""
