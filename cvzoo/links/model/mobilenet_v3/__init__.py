"""MobileNetV3, an image classifier (Howard et al., 2019)."""
