"""Resumable uploads."""
