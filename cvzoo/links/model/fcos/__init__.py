"""FCOS, a one-stage detector without anchors (Tian et al., 2019)."""
