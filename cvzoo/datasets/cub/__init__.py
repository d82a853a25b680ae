"""Caltech-UCSD Birds-200-2011."""
