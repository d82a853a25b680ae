"""RegNet (Radosavovic et al., 2020)."""
