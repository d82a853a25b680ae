"""Explanations of differences between two evaluations of the same results."""
