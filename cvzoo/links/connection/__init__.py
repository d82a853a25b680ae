"""Layers: links that know no model."""
