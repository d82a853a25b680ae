"""Metrics as pure functions of arrays, and as accumulators that stream and merge."""

__all__ = []
