"""Pretrained weights: which file a name means, whose names its arrays have, and how a model takes them over."""
