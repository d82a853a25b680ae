"""A data set cut into parts to learn from and to be scored on."""
