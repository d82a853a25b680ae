"""Data sets that can be sliced by examples and by keys without reading the values that are sliced off."""
