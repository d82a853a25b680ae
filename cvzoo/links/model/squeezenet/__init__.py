"""SqueezeNet, an image classifier (Iandola et al., 2016)."""
