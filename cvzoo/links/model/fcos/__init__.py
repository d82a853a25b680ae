"""FCOS (Tian et al., 2019): boxes without anchors."""
