"""ESPNet (Mehta et al., 2018)."""
