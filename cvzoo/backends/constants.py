"""Arrays that a GPU needs again and again: anchors, tables of weights, sizes of parts."""

import collections
import threading
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cuda.held import hold
from cvzoo.backends.cupy.library import cupy

# sizes of photos change; each has a few constants
_KEPT = 512


class Constants:
    """Arrays by key, copied to a device when first asked for there; the longest unused is forgotten first, though not
    while a CUDA graph reads it."""

    def __init__(self, kept: int = _KEPT):
        self._kept = kept
        self._arrays: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        self._library: Any = None
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], np.ndarray]) -> Any:
        """The array on the current device, not to be changed.

        key: what tells it from others
        make: called when there is none yet; then the copy is waited for, once, which no CUDA graph can capture
        """
        library = cupy()
        key = library.cuda.runtime.getDevice(), key
        with self._lock:
            if self._library is not library:
                self._arrays.clear()
                self._library = library
            found = self._arrays.get(key)
            if found is None:
                found = library.asarray(np.ascontiguousarray(make()))
                # it will be read on other streams, too
                library.cuda.get_current_stream().synchronize()
                self._arrays[key] = found
                while len(self._arrays) > self._kept:
                    self._arrays.popitem(last=False)
            else:
                self._arrays.move_to_end(key)
            hold(found)
            return found


constants = Constants()


def constant(key: Hashable, make: Callable[[], np.ndarray]) -> Any:
    """As AbstractBackend.constant says."""
    return constants.get(key, make)


def beside(array: np.ndarray, x: Any, key: Hashable) -> Any:
    """`array` itself, or, where x lies on a GPU, its copy there, made once.

    x: an array, or the number of a device, -1 for the processor: who asks a Variable for its array reads numbers
    key: what tells the array from others
    """
    on_gpu = x >= 0 if isinstance(x, int) else is_device_array(x)
    return constants.get(key, lambda: array) if on_gpu else array
