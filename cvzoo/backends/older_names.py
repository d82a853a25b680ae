"""Backends under the names that they had as classes: `NumpyBackend()` is `get_backend("numpy")`."""

import functools

from cvzoo.backends.dispatch import get_backend

NumpyBackend = functools.partial(get_backend, "numpy")
OneDNNBackend = functools.partial(get_backend, "onednn")
