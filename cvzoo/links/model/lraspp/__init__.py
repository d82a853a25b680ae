"""Lite reduced atrous spatial pyramid pooling: the label maps of MobileNetV3 (Howard et al., 2019)."""
