"""SqueezeNets (Iandola et al., 2016)."""
