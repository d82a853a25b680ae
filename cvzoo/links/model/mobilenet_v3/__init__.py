"""MobileNetV3 (Howard et al., 2019)."""
