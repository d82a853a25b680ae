"""DenseNets (Huang et al., 2017)."""
