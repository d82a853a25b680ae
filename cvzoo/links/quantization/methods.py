"""Calibration methods for a layer's clipping range, in a module that the command line can import quickly."""

# least squared error of the histogram | a percentile of the magnitudes | the largest magnitude
METHODS = ("mse", "percentile", "minmax")
