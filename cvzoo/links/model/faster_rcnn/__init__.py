"""Faster R-CNN (Ren et al., 2015) on one feature map."""
