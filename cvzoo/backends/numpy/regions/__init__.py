"""Regions of feature maps in NumPy: where their cells lie, and sums over them."""
