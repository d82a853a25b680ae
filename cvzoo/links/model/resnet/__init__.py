"""ResNets for photos (He et al., 2016)."""
