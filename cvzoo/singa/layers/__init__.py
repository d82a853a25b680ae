"""SINGA's layers: links that name and shape their parameters as SINGA does."""
