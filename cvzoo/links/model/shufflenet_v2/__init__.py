"""ShuffleNetV2 (Ma et al., 2018)."""
