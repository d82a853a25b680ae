"""Regions of feature maps: what is inside a box, at one size."""
