"""Caltech-UCSD Birds 200."""
