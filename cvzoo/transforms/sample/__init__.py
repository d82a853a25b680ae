"""Images with their annotations, and transforms that change both consistently."""
