"""Feature pyramids (Lin et al., 2017)."""
