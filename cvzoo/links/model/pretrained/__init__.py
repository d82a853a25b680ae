"""Pretrained weights: names of files, names of arrays, and loading."""
