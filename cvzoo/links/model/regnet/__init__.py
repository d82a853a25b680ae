"""RegNet, an image classifier (Radosavovic et al., 2020)."""
