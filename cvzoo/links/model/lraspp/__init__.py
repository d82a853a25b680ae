"""LR-ASPP, lite reduced atrous spatial pyramid pooling (Howard et al., 2019)."""
