"""Evaluations of models: scores, and what went wrong in each image."""
