"""Losses that own parameters."""
