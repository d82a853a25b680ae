"""PSPNet: label maps that know the whole scene (Zhao et al., 2017)."""
