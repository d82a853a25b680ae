"""Fully convolutional networks for label maps (Long et al., 2015), on dilated ResNets."""
