"""ShuffleNetV2, an image classifier (Ma et al., 2018)."""
