"""A photo with all that is known about it, and transforms that change everything together."""
