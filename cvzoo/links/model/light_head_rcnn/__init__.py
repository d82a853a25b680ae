"""Light-Head R-CNN (Li et al., 2017)."""
