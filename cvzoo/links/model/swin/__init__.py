"""Swin Transformer, the first and the second (Liu et al., 2021 and 2022)."""
