"""MobileNetV2, an image classifier (Sandler et al., 2018)."""
