"""SegNet: label maps from pooled maxima put back (Badrinarayanan et al., 2017)."""
