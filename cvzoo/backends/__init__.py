"""What runs the heavy kernels on a device."""

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.dispatch import backend_of, get_backend

__all__ = ["AbstractBackend", "backend_of", "get_backend"]
