"""LR-ASPP (lite reduced ASPP), a semantic segmentation network (Howard et al., 2019)."""
