"""Updates on a GPU: formulas written for NumPy, traced once and run as one kernel over all parameters of a group."""
