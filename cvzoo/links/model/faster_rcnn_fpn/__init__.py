"""Faster R-CNN on feature pyramids (Ren et al., 2015; Lin et al., 2017)."""
