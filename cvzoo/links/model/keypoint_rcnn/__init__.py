"""Keypoint R-CNN (He et al., 2017)."""
