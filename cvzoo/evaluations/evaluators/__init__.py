"""Evaluators: an iterator and a model in, numbers out."""
