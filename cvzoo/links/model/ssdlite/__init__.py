"""SSDLite, a one-stage detector with separable convolutions, on MobileNetV3 (Sandler et al., 2018)."""
