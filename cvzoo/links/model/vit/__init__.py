"""Vision Transformer (Dosovitskiy et al., 2021)."""
