"""Primitive calls with bound arguments, for replay without Python overhead."""

import ctypes
import functools
from collections.abc import Callable

from cvzoo.backends.onednn.native_primitive import NativePrimitive
from cvzoo.backends.onednn.primitives import (
    DIFF_DST,
    GRADIENTS,
    RESULTS,
    STATISTICS,
    Primitive,
    _Argument,
    check,
    local,
)

_QUERY_KIND = 2
_MEMORY = _Argument.memory.offset  # where an argument has its memory object
_KINDS = {
    1: "reorder",
    2: "shuffle",
    3: "concat",
    4: "sum",
    5: "convolution",
    6: "deconvolution",
    7: "eltwise",
    8: "lrn",
    9: "batch normalization",
    13: "binary",
    14: "matmul",
    15: "resampling",
    16: "pooling",
    17: "reduction",
    18: "prelu",
    19: "softmax",
    20: "layer normalization",
    21: "group normalization",
}


def operation_of(primitive: Primitive | NativePrimitive) -> str:
    """The name of what it does: "convolution"."""
    if isinstance(primitive, NativePrimitive):
        return primitive.operation
    quick = local.library.quick
    descriptor, kind = ctypes.c_void_p(), ctypes.c_int()
    check(quick.dnnl_primitive_get_primitive_desc(primitive._primitive, ctypes.byref(descriptor)), "a query")
    check(quick.dnnl_primitive_desc_query(descriptor, _QUERY_KIND, 0, ctypes.byref(kind)), "a query")
    return _KINDS.get(kind.value, f"operation {kind.value}")


def written_slots(primitive: Primitive | NativePrimitive) -> tuple[frozenset[int], frozenset[int]]:
    """Indexes of the arrays that it writes, and of those that it writes or reads.

    The latter are statistics, which training writes, and inference and gradients read.
    """
    return written_of(primitive.kinds)


@functools.lru_cache(1024)
def written_of(kinds: tuple[int, ...]) -> tuple[frozenset[int], frozenset[int]]:
    """The same, of arguments of these kinds."""
    if DIFF_DST in kinds:
        return frozenset([k for k, kind in enumerate(kinds) if kind in GRADIENTS]), frozenset()
    written = [k for k, kind in enumerate(kinds) if kind in RESULTS]
    return frozenset(written), frozenset([k for k, kind in enumerate(kinds) if kind in STATISTICS])


class BoundCall:
    """A primitive with its own memory objects, whose addresses persist between calls.

    run: a call without arguments that returns the library's status, 0 for success
    scratch_size: size of its scratch memory in bytes, see `bind_scratch`

    It belongs to the thread that created it, as the primitive does. It keeps no array alive.
    """

    __slots__ = (
        "_alignment",
        "_arguments",
        "_destroy",
        "_keep",
        "_memories",
        "_scratch",
        "_set",
        "run",
        "scratch_size",
    )

    def __init__(self, primitive: Primitive):
        quick = local.library.quick
        self._set = quick.dnnl_memory_set_data_handle
        self._alignment = primitive.alignment
        # owns the library's primitive and stream, whose addresses `run` holds
        self._keep = primitive
        self._arguments = (_Argument * primitive._count)()
        self._destroy = quick.dnnl_memory_destroy
        self._memories: list[int] = []
        engine = local.library.engine
        descriptor = ctypes.c_void_p()
        for own, argument in zip(self._arguments, primitive._arguments):
            own.kind = argument.kind
            status = quick.dnnl_memory_get_memory_desc(argument.memory, ctypes.byref(descriptor))
            status = status or quick.dnnl_memory_create(ctypes.byref(own, _MEMORY), descriptor, engine, None)
            if status:
                check(status, "creating memory")
            self._memories.append(own.memory)
        self.scratch_size = primitive.scratch_size
        self._scratch = self._memories[-1] if self.scratch_size else None
        self.run: Callable[[], int] = functools.partial(
            primitive._execute, primitive._primitive, primitive._stream, primitive._count, self._arguments
        )

    def __del__(self) -> None:
        for memory in self._memories:
            self._destroy(memory)

    def bind(self, k: int, address: int) -> None:
        """Set the address of argument k, in the order of the primitive's arrays."""
        if self._alignment is not None:
            self._alignment.check(k, address)
        self._set(self._memories[k], address)

    def bind_scratch(self, address: int) -> None:
        """Set the address of the scratch memory."""
        if self._scratch is not None:
            self._set(self._scratch, address)
