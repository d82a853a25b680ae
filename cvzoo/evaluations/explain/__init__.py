"""Why two scorings of the same results differ."""
