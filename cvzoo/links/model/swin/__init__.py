"""Swin Transformer and Swin Transformer V2 (Liu et al., 2021 and 2022)."""
