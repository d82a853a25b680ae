"""Keypoint R-CNN, a keypoint detector (He et al., 2017)."""
