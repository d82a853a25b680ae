"""PSPNet, a semantic segmentation network (Zhao et al., 2017)."""
