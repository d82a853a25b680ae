"""The fast CPU kernels: oneDNN through ctypes."""

from cvzoo.backends.onednn.backend import OneDNNBackend

__all__ = ["OneDNNBackend"]
