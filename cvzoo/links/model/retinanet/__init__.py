"""RetinaNet (Lin et al., 2017)."""
