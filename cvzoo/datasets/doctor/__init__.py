"""The doctor of data sets: what is wrong with photos and annotations, and a corrected copy."""
