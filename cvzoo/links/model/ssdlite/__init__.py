"""SSDLite (Sandler et al., MobileNetV2, 2018): SSD whose convolutions are separable, on MobileNetV3."""
