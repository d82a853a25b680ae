"""Mask R-CNN, an instance segmentation network (He et al., 2017)."""
