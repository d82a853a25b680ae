"""Names and colours of the classes of public data sets; facts, no code."""
