"""MobileNetV2 (Sandler et al., 2018)."""
