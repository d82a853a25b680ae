"""Updates on a GPU: formulas written in NumPy, traced once and run as one kernel per group of parameters."""
