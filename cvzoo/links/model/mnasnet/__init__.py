"""MNASNet, an image classifier (Tan et al., 2019)."""
