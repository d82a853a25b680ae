"""FCIS: fully convolutional instance-aware segmentation (Li et al., 2017)."""
