"""Normalizing activations."""
