"""Torch's pickled tensors and storages, and their conversion to arrays."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.weights.formats.declared_shape import MAX_RANK, is_possible_shape
from cvzoo.weights.formats.pickle_machine import Callee

BFLOAT16 = "bfloat16"
# torch's name -> NumPy's dtype, without byte order
DTYPES = {
    "float64": "f8",
    "float32": "f4",
    "float16": "f2",
    BFLOAT16: "u2",
    "int64": "i8",
    "int32": "i4",
    "int16": "i2",
    "int8": "i1",
    "uint64": "u8",
    "uint32": "u4",
    "uint16": "u2",
    "uint8": "u1",
    "bool": "u1",
    "complex64": "c8",
    "complex128": "c16",
}
STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": BFLOAT16,
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
}


@dataclasses.dataclass(frozen=True)
class TorchDtype:
    """A dtype of torch's, or a storage class of that dtype."""

    name: str

    @property
    def itemsize(self) -> int:
        return np.dtype(DTYPES[self.name]).itemsize


@dataclasses.dataclass(frozen=True)
class TorchStorage:
    """A range of `n` elements in the file, from element `start` of the storage `key`."""

    key: str
    dtype: TorchDtype
    n: int
    start: int = 0


@dataclasses.dataclass(frozen=True)
class TorchTensor:
    """A view of a storage, as pickled; not validated."""

    storage: TorchStorage
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: TorchDtype


# arguments are from an untrusted file and may have any type; `check_tensor` validates them before they are used


def rebuild_tensor(storage: Any, offset: Any, shape: Any, stride: Any, *rest: object) -> TorchTensor:
    """Torch's `_rebuild_tensor` and `_rebuild_tensor_v2`."""
    dtype: Any = storage.dtype if isinstance(storage, TorchStorage) else None
    return TorchTensor(storage, offset, shape, stride, dtype)


def rebuild_tensor_v3(
    storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: object, hooks: object, dtype: Any, *rest: object
) -> TorchTensor:
    """Torch's `_rebuild_tensor_v3`: of an untyped storage, with the tensor's dtype."""
    return TorchTensor(storage, offset, shape, stride, dtype)


def rebuild_parameter(data: object, *rest: object) -> object:
    """Torch's `_rebuild_parameter`: the tensor itself."""
    return data


def rebuild_from_type(function: object, kind: object, args: Any, state: object) -> object:
    """Torch's `_rebuild_from_type_v2`: the tensor, without its additional attributes."""
    if not isinstance(function, Callee) or function.build not in (rebuild_tensor, rebuild_tensor_v3, rebuild_parameter):
        raise TypeError("not a function that makes a tensor")  # others copy what they are given, here uncounted
    return function.build(*args)


def check_tensor(tensor: TorchTensor, name: str, where: str) -> int:
    """The number of elements. Raises FileFormatError, naming the tensor, unless it is inside of its storage."""

    def error(what: str) -> FileFormatError:
        return FileFormatError(f"{where}: tensor {name!r} {what}")

    if not isinstance(tensor.storage, TorchStorage) or not isinstance(tensor.dtype, TorchDtype):
        raise error("has no storage or no dtype")
    sizes = (tensor.offset, *_sizes(tensor.shape, error), *_sizes(tensor.stride, error))
    if not all(type(size) is int and 0 <= size < 2**62 for size in sizes):
        raise error("has a size, stride or offset that is negative or no number")
    if len(tensor.shape) != len(tensor.stride) or len(tensor.shape) > MAX_RANK:
        raise error(f"has {len(tensor.shape)} sizes and {len(tensor.stride)} strides")
    n = math.prod(tensor.shape)
    if n == 0:
        if not is_possible_shape(tensor.shape, tensor.dtype.itemsize):
            raise error("is empty with absurd sizes")
        return 0
    last = tensor.offset + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride))
    have = tensor.storage.n * tensor.storage.dtype.itemsize
    if (last + 1) * tensor.dtype.itemsize > have:
        raise error(f"reaches to byte {(last + 1) * tensor.dtype.itemsize} of a storage of {have}")
    return n


def _sizes(value: object, error: Callable[[str], FileFormatError]) -> tuple[object, ...]:
    if not isinstance(value, (tuple, list)):
        raise error("has sizes that are no tuple")
    return tuple(value)


def tensor_array(tensor: TorchTensor, raw: bytes | memoryview, *, big_endian: bool) -> np.ndarray:
    """The tensor's values as a new contiguous array; bfloat16 becomes float32.

    tensor: must have passed check_tensor
    raw: the bytes of its storage
    """
    stored = np.dtype(DTYPES[tensor.dtype.name]).newbyteorder(">" if big_endian else "<")
    flat = np.frombuffer(raw, stored, len(raw) // stored.itemsize)
    if math.prod(tensor.shape) == 0:
        view = np.empty(tensor.shape, stored)
    else:
        strides = [step * stored.itemsize for step in tensor.stride]
        view = np.lib.stride_tricks.as_strided(flat[tensor.offset :], tensor.shape, strides, writeable=False)
    if tensor.dtype.name == BFLOAT16:
        return widen_bfloat16(view)
    if tensor.dtype.name == "bool":
        return np.array(view != 0, order="C")
    own = np.empty(tensor.shape, DTYPES[tensor.dtype.name])
    own[...] = view
    return own


def widen_bfloat16(bits: np.ndarray) -> np.ndarray:
    """The float32 values whose upper halves are `bits`, uint16 of any shape. Exact."""
    return (np.ascontiguousarray(bits).astype(np.uint32) << 16).view(np.float32).reshape(bits.shape)
