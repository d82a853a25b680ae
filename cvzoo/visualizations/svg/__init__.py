"""Plots as SVG text: no window, no font file, nothing to fetch."""
