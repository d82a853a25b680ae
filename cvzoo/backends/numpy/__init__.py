"""The reference kernels, in NumPy."""
