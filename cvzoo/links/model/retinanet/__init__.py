"""RetinaNet, a one-stage detector (Lin et al., 2017)."""
