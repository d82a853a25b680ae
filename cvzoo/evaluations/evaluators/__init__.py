"""Evaluators: scores of a model on the examples of an iterator."""
