"""The optimized CPU backend: oneDNN through ctypes."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.backends.dispatch import OneDNNBackend

__all__ = ["OneDNNBackend"]

import_on_demand(__name__)
