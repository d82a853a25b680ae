"""PSPNet (Zhao et al., 2017)."""
