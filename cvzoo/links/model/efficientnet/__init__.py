"""EfficientNet and EfficientNetV2 (Tan and Le, 2019 and 2021)."""
