"""Photos and boxes changed together: resize, flip, letterbox, crop, normalize. Pure functions of arrays."""

from cvzoo.transforms.resize import resize

__all__ = ["resize"]
