"""ESPNet: label maps on small machines (Mehta et al., 2018)."""
