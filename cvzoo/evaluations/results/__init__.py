"""Results of anybody's detector, in the formats in which they are written."""
