"""Our own kernels as primitives: recorded, replayed and profiled as oneDNN's are."""

import ctypes
import functools
from collections.abc import Callable, Sequence

import numpy as np

from cvzoo.backends.arrays import DATA_ADDRESS_OFFSET
from cvzoo.backends.native.library import native
from cvzoo.backends.onednn.primitives import local
from cvzoo.errors.exceptions import BackendError

_at = ctypes.c_void_p.from_address


class NativePrimitive:
    """A kernel and its plan, called with arrays in the order of `kinds`, oneDNN's argument kinds.

    operation: oneDNN's name of the operation; alignment: it needs none
    scratch_size: bytes of the scratch memory whose address follows the arrays', 0: it needs none
    It belongs to the thread that created it.
    """

    __slots__ = ("_address", "_arrays", "_function", "_plan", "_threads", "kinds", "operation", "scratch_size")
    alignment = None

    def __init__(self, operation: str, kernel: str, plan: ctypes.Structure, kinds: Sequence[int]):
        if not local.ready:
            local.start()
        self.operation = operation
        self.kinds = tuple(kinds)
        library = native()
        assert library is not None  # callers check
        self._function = library.kernels[kernel]
        self._plan = plan
        self._address = ctypes.addressof(plan)
        self._threads = local.threads
        size = library.scratch_sizes.get(kernel)
        self.scratch_size = size(self._address, self._threads) if size is not None else 0
        if self.scratch_size:
            local.reserve(self.scratch_size)
        self._arrays = self.new_arrays()

    def new_arrays(self) -> ctypes.Array:
        """An array for the arrays' addresses, and that of the scratch memory."""
        return (ctypes.c_void_p * (len(self.kinds) + (self.scratch_size > 0)))()

    def bound(self, arrays: ctypes.Array) -> Callable[[], int]:
        """A call that uses the addresses in `arrays` at that time; it returns 0 for success."""
        return functools.partial(self._function, self._address, arrays, self._threads)

    def __call__(self, *arrays: np.ndarray) -> None:
        if local.recorder is not None and local.recorder(self, arrays):
            return
        addresses = self._arrays
        for k, array in enumerate(arrays):
            addresses[k] = _at(id(array) + DATA_ADDRESS_OFFSET).value
        if self.scratch_size:
            addresses[len(arrays)] = local.scratch_address
        if self._function(self._address, addresses, self._threads):
            raise BackendError(f"{self.operation}: out of memory")


class BoundNativeCall:
    """A kernel whose addresses persist between calls, the counterpart of BoundCall."""

    __slots__ = ("_arrays", "_primitive", "run", "scratch_size")

    def __init__(self, primitive: NativePrimitive):
        self._primitive = primitive
        self._arrays = primitive.new_arrays()
        self.run = primitive.bound(self._arrays)
        self.scratch_size = primitive.scratch_size

    def bind(self, k: int, address: int) -> None:
        """Set the address of argument k, in the order of the primitive's arrays."""
        self._arrays[k] = address

    def bind_scratch(self, address: int) -> None:
        """Set the address of the scratch memory."""
        if self.scratch_size:
            self._arrays[len(self._primitive.kinds)] = address
