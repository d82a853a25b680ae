"""Ways to choose where a layer's input is cut, of which the command line tells without importing what uses them."""

# least squared error of the histogram | a percentile of the magnitudes | the largest magnitude
METHODS = ("mse", "percentile", "minmax")
