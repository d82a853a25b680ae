"""The reference kernels, in NumPy."""

from cvzoo.backends.numpy.backend import NumpyBackend

__all__ = ["NumpyBackend"]
