"""Predictions of a loaded model, in a process of its own."""
