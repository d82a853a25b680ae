"""MNASNet (Tan et al., 2019)."""
