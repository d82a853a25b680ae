"""ConvNeXt (Liu et al., 2022)."""
