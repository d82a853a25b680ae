"""oneDNN's primitives: created once for each case, cached, and called with arrays.

Everything here is thread-local: primitives, the memory objects whose addresses are set at each call, and the scratch
memory. So there is no locking, and evicting a primitive cannot affect another thread.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from cvzoo.backends.arrays import DATA_ADDRESS_OFFSET, numpy_address
from cvzoo.backends.onednn.alignment import CHECKS_ALIGNMENT, Alignment
from cvzoo.backends.onednn.library import Library, library
from cvzoo.backends.onednn.pool import aligned_memory
from cvzoo.backends.openmp import idle_threads, threads_now
from cvzoo.errors.exceptions import BackendError

F32, S8, U8 = np.dtype(np.float32), np.dtype(np.int8), np.dtype(np.uint8)
BF16 = np.dtype(np.uint16)  # the bits of bfloat16, which NumPy does not have

# oneDNN's numbers (dnnl_types.h)
SRC, SRC_1, DST, WEIGHTS, BIAS, MEAN, VARIANCE, SCALE, SHIFT, WORKSPACE = 1, 2, 17, 33, 41, 49, 50, 51, 52, 64
DIFF_SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS, DIFF_SCALE, DIFF_SHIFT = 129, 145, 161, 169, 255, 256
_SCRATCHPAD = 80
RESULTS, STATISTICS = frozenset((DST, WORKSPACE)), frozenset((MEAN, VARIANCE))
GRADIENTS = frozenset((DIFF_SRC, DIFF_WEIGHTS, DIFF_BIAS, DIFF_SCALE, DIFF_SHIFT))
FORWARD_TRAINING, FORWARD_INFERENCE, BACKWARD = 64, 96, 128
QUERY_WEIGHTS, QUERY_DIFF_WEIGHTS, QUERY_WORKSPACE = 131, 132, 135
_QUERY_PROPAGATION, _QUERY_SCRATCHPAD = 11, 136
_QUERY_RANK, _QUERY_DIMS, _QUERY_STRIDES, _QUERY_PADDED_DIMS = 256, 257, 14, 260
_QUERY_BLOCKS, _QUERY_BLOCK_SIZES, _QUERY_BLOCK_AXES = 263, 264, 265
_FLOAT = 3
_DTYPES = {BF16: 2, F32: _FLOAT, S8: 5, U8: 6}
SCALES = 4096  # combined with an argument's index: the scales of that argument

_KEPT = 2048  # primitives of one generation of the cache; there are at most two
_Dims = ctypes.c_int64 * 12
_at = ctypes.c_void_p.from_address


class _Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("memory", ctypes.c_void_p)]


def address_in(pointer: ctypes.c_void_p) -> int:
    """The address that a function of the library has written to `pointer`."""
    assert pointer.value is not None
    return pointer.value


class Handle:
    """Owner of one of the library's objects."""

    __slots__ = ("_destroy", "address")

    def __init__(self, address: int, destroy: Callable[[int], int]):
        self.address = address
        self._destroy = destroy

    def __del__(self) -> None:
        if hasattr(self, "_destroy"):  # Ctrl-C may come before `__init__`
            self._destroy(self.address)


def check(status: int, what: str) -> None:
    """Raises BackendError unless `status` is success."""
    if status != 0:
        names = {1: "out of memory", 2: "invalid arguments", 3: "unimplemented", 6: "runtime error"}
        raise BackendError(f"oneDNN: {what} failed", got=names.get(status, f"status {status}"))


class _Local(threading.local):
    """The state of a thread: its primitives, its stream, its scratch memory."""

    # class attributes: the state before the thread's first kernel, when nothing is loaded
    ready = False
    young: dict[Hashable, Any] = {}
    # of a recording: called with each primitive and its arrays before it runs; if it returns True, it does not run
    recorder: Callable[[Any, tuple[np.ndarray, ...]], bool | None] | None = None

    def start(self) -> None:
        """Load the library if necessary, and set the number of threads."""
        self.library = loaded = library()
        self.young = {}
        self.old: dict[Hashable, Any] = {}
        self.scratch = np.empty(0, np.uint8)
        self.scratch_address = self.scratch_size = 0
        self.watches_addresses = CHECKS_ALIGNMENT or loaded.reads_aligned
        self.threads = threads_now()[0]
        if loaded.runtime == "OpenMP":
            loaded.calls.omp_set_num_threads(self.threads)
        stream = ctypes.c_void_p()
        check(loaded.quick.dnnl_stream_create(ctypes.byref(stream), loaded.engine, 1), "creating a stream")
        self.stream = Handle(address_in(stream), loaded.quick.dnnl_stream_destroy)
        self.ready = True

    def reserve(self, size: int) -> None:
        """Enlarge the scratch memory to at least `size` bytes."""
        if size > self.scratch_size:
            self.scratch, start = aligned_memory(size)
            self.scratch_address = numpy_address(self.scratch) + start
            self.scratch_size = size


local = _Local()


def _forget() -> None:
    local.__dict__.clear()


# primitives depend on the number of threads, and a forked child uses a single one
os.register_at_fork(after_in_child=_forget)


def recall(key: Hashable, make: Callable[..., Any], *arguments: Any) -> Any:
    """The value cached for `key` in this thread, created by make(*arguments); to be called if `local.young` lacks it.

    The least recently used half of the cache is evicted from time to time.
    """
    if not local.ready:
        local.start()
    value = local.old.get(key)
    if value is None:
        value = make(*arguments)
    if len(local.young) >= _KEPT:
        local.old, local.young = local.young, {}
    local.young[key] = value
    return value


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    """The array's strides in elements; for axes of size 1, where they are arbitrary, those of a dense array."""
    size = array.itemsize
    strides = [stride // size for stride in array.strides]
    for axis in range(array.ndim):
        if array.shape[axis] == 1:
            inner = [array.shape[k] * strides[k] for k in range(array.ndim) if array.shape[k] > 1]
            # channels-last if the others are: the channel axis is the innermost
            strides[axis] = 1 if axis == 1 and array.ndim == 4 else max(inner, default=1)
    return tuple(strides)


def dense_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a C-contiguous array."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(shape)]))


def dims(values: Sequence[int]) -> ctypes.Array:
    """The library's array of up to 12 integers."""
    return _Dims(*values)


def describe(shape: Sequence[int], strides: Sequence[int] | None, dtype: np.dtype = F32) -> Handle:
    """A memory descriptor; without strides the library may choose the format."""
    quick = local.library.quick
    result = ctypes.c_void_p()
    kind = _DTYPES[dtype]
    if strides is None:
        status = quick.dnnl_memory_desc_create_with_tag(ctypes.byref(result), len(shape), dims(shape), kind, 1)
    else:
        status = quick.dnnl_memory_desc_create_with_strides(
            ctypes.byref(result), len(shape), dims(shape), kind, dims(strides)
        )
    check(status, f"describing an array {tuple(shape)}")
    return Handle(address_in(result), quick.dnnl_memory_desc_destroy)


def describe_image(shape: Sequence[int], dtype: np.dtype = F32) -> Handle:
    """A memory descriptor of a channels-last array (B, C, H, W)."""
    _, c, h, w = shape
    return describe(shape, (c * h * w, 1, c * w, c), dtype)


def attributes(post_ops: Sequence[tuple] = (), scales: Sequence[tuple[int, int]] = ()) -> Handle:
    """Attributes of a primitive: user-provided scratch memory, and `post_ops` in order.

    post_ops: ("sum",) adds the output's previous values; ("eltwise", algorithm, alpha, beta);
        ("binary", algorithm, address of a descriptor)
    scales: (argument, mask): arguments with scales, and the axes along which the scales differ
    """
    quick = local.library.quick
    result = ctypes.c_void_p()
    check(quick.dnnl_primitive_attr_create(ctypes.byref(result)), "creating attributes")
    attr = Handle(address_in(result), quick.dnnl_primitive_attr_destroy)
    check(quick.dnnl_primitive_attr_set_scratchpad_mode(attr.address, 1), "setting the scratch mode")
    for argument, mask in scales:
        check(quick.dnnl_primitive_attr_set_scales_mask(attr.address, argument, mask), "setting scales")
    if post_ops:
        check(quick.dnnl_post_ops_create(ctypes.byref(result)), "creating post-ops")
        ops = Handle(address_in(result), quick.dnnl_post_ops_destroy)
        for kind, *values in post_ops:
            if kind == "sum":
                status = quick.dnnl_post_ops_append_sum(ops.address, 1.0, 0, _FLOAT)
            elif kind == "eltwise":
                status = quick.dnnl_post_ops_append_eltwise(ops.address, *values)
            else:
                status = quick.dnnl_post_ops_append_binary(ops.address, *values)
            check(status, f"appending {kind}")
        check(quick.dnnl_primitive_attr_set_post_ops(attr.address, ops.address), "setting post-ops")
    return attr


def primitive_descriptor(operation: str, *arguments: Any) -> Handle | None:
    """The primitive descriptor of an operation; None if the library does not support the case."""
    loaded: Library = local.library
    result = ctypes.c_void_p()
    create = getattr(loaded.calls, f"dnnl_{operation}_primitive_desc_create")
    if operation == "reorder":
        source, target, attr = arguments
        arguments = (source, loaded.engine, target, loaded.engine, attr)
    else:
        arguments = (loaded.engine, *arguments)
    plain = [value.address if isinstance(value, Handle) else value for value in arguments]
    if create(ctypes.byref(result), *plain) != 0:
        return None
    return Handle(address_in(result), loaded.quick.dnnl_primitive_desc_destroy)


def supported(descriptor: Handle | None) -> Handle:
    """The primitive descriptor itself. Raises BackendError if it is None: the library does not support the case."""
    if descriptor is None:
        raise BackendError("oneDNN does not support an operation that cvzoo needs")
    return descriptor


def queried(descriptor: Handle, query: int) -> int:
    """The address of the memory descriptor that a plan has chosen; valid as long as the plan."""
    return local.library.quick.dnnl_primitive_desc_query_md(descriptor.address, query, 0)


def size_of(memory_descriptor: int | None) -> int:
    """The size in bytes."""
    return local.library.quick.dnnl_memory_desc_get_size(memory_descriptor) if memory_descriptor else 0


def same_layout(a: int, b: int) -> bool:
    """Whether two memory descriptors describe the same."""
    return bool(local.library.quick.dnnl_memory_desc_equal(a, b))


def layout_of(memory_descriptor: int) -> tuple:
    """A hashable key of a memory descriptor's shape and layout."""
    quick = local.library.quick
    pointer, number = ctypes.c_void_p(), ctypes.c_int()

    def count(query: int) -> int:
        check(quick.dnnl_memory_desc_query(memory_descriptor, query, ctypes.byref(number)), "a query")
        return number.value

    def numbers(query: int, length: int) -> tuple[int, ...]:
        if length == 0:
            return ()
        check(quick.dnnl_memory_desc_query(memory_descriptor, query, ctypes.byref(pointer)), "a query")
        return tuple((ctypes.c_int64 * length).from_address(address_in(pointer)))

    rank, blocks = count(_QUERY_RANK), count(_QUERY_BLOCKS)
    sizes = (numbers(query, rank) for query in (_QUERY_DIMS, _QUERY_STRIDES, _QUERY_PADDED_DIMS))
    return (*sizes, numbers(_QUERY_BLOCK_SIZES, blocks), numbers(_QUERY_BLOCK_AXES, blocks))


def implementation(descriptor: Handle) -> str:
    """The name of the kernel that a plan has chosen."""
    name = ctypes.c_char_p()
    local.library.quick.dnnl_primitive_desc_query(descriptor.address, 8, 0, ctypes.byref(name))
    return (name.value or b"").decode()


def _alignment(descriptor: Handle, kinds: Sequence[int]) -> Alignment:
    """The alignment requirements of a primitive's arguments."""
    written = GRADIENTS if DIFF_DST in kinds else RESULTS
    if MEAN in kinds and DIFF_DST not in kinds:
        propagation = ctypes.c_int()
        query = local.library.quick.dnnl_primitive_desc_query
        check(query(descriptor.address, _QUERY_PROPAGATION, 0, ctypes.byref(propagation)), "a query")
        if propagation.value == FORWARD_TRAINING:
            written = written | STATISTICS
    return Alignment({k for k, kind in enumerate(kinds) if kind in written}, local.library.reads_aligned)


class Primitive:
    """An operation that is called with arrays, in the order in which `slots` named them."""

    __slots__ = (
        "_arguments",
        "_count",
        "_execute",
        "_keep",
        "_memories",
        "_primitive",
        "_scratch",
        "_set",
        "_stream",
        "alignment",
        "kinds",
        "scratch_size",
    )

    def __init__(self, descriptor: Handle, slots: Sequence[tuple[int, Handle | int]]):
        """slots: (argument index, memory descriptor) pairs"""
        loaded = local.library
        quick = loaded.quick
        result = ctypes.c_void_p()
        check(loaded.calls.dnnl_primitive_create(ctypes.byref(result), descriptor.address), "creating a primitive")
        handle = Handle(address_in(result), quick.dnnl_primitive_destroy)
        scratch = queried(descriptor, _QUERY_SCRATCHPAD)
        size = size_of(scratch)
        if size:
            local.reserve(size)
            slots = [*slots, (_SCRATCHPAD, scratch)]
        self._keep = [handle, local.stream]
        self._memories = []
        self.scratch_size = size
        self.kinds = tuple(kind for kind, _ in slots if kind != _SCRATCHPAD)
        self.alignment = _alignment(descriptor, self.kinds) if local.watches_addresses else None
        self._count = len(slots)
        self._arguments = (_Argument * len(slots))()
        for k, (kind, memory_descriptor) in enumerate(slots):
            address = memory_descriptor.address if isinstance(memory_descriptor, Handle) else memory_descriptor
            check(quick.dnnl_memory_create(ctypes.byref(result), address, loaded.engine, None), "creating memory")
            self._keep.append(Handle(address_in(result), quick.dnnl_memory_destroy))
            self._memories.append(address_in(result))
            self._arguments[k] = _Argument(kind, address_in(result))
        self._scratch = self._memories.pop() if size else None
        self._primitive = handle.address
        self._execute = loaded.calls.dnnl_primitive_execute
        self._set = quick.dnnl_memory_set_data_handle
        self._stream = local.stream.address

    def __call__(self, *arrays: np.ndarray) -> None:
        if local.recorder is not None and local.recorder(self, arrays):
            return
        if self.alignment is not None:
            arrays = self.alignment.fitted(arrays)
        set_address = self._set
        for memory, array in zip(self._memories, arrays):
            set_address(memory, _at(id(array) + DATA_ADDRESS_OFFSET))
        if self._scratch is not None:
            set_address(self._scratch, local.scratch_address)
        idle_threads.before_work()
        # streams of the CPU are synchronous: the work is done when execute returns
        status = self._execute(self._primitive, self._stream, self._count, self._arguments)
        if status != 0:
            check(status, "running a primitive")
        idle_threads.after_work()
