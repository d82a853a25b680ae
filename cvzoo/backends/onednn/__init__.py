"""The fast kernels of a processor: oneDNN through ctypes."""
