"""The reference kernels, in NumPy."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.backends.dispatch import NumpyBackend

__all__ = ["NumpyBackend"]

import_on_demand(__name__)
