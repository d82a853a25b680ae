"""Weighted sums: convolution, linear, embedding."""
