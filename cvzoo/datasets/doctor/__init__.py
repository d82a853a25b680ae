"""The data set doctor: finds faults of images and annotations, and writes a corrected copy."""
