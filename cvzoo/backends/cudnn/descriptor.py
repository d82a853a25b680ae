"""One of cuDNN's opaque descriptors: attributes are set, it is finalized, then it can be queried."""

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

from cvzoo.backends.cudnn.library import check, library
from cvzoo.backends.cudnn.names import Attribute, Kind, Type

_NUMBERS: dict[Type, Any] = {
    Type.INT64: ctypes.c_int64,
    Type.FLOAT: ctypes.c_float,
    Type.BOOLEAN: ctypes.c_bool,
    Type.POINTER: ctypes.c_void_p,
    Type.HANDLE: ctypes.c_void_p,
}


class Descriptor:
    """A descriptor, destroyed with its last reference. `address`: the pointer for C."""

    __slots__ = ("__weakref__", "_calls", "_parts", "address")

    def __init__(self, kind: Kind):
        self._calls = library().calls
        self._parts: list[Descriptor] = []  # cuDNN refers to what a descriptor is made of without owning it
        self.address = None
        made = ctypes.c_void_p()
        check(self._calls.cudnnBackendCreateDescriptor(kind, ctypes.addressof(made)))
        self.address = made.value

    def __del__(self) -> None:
        if self.address is not None and not sys.is_finalizing():
            self._calls.cudnnBackendDestroyDescriptor(self.address)

    def set(self, name: Attribute, kind: Type, *values: Any) -> "Descriptor":
        """self, with an attribute set. It holds references to descriptors among the values."""
        if kind is Type.DESCRIPTOR:
            self._parts += values
            array = (ctypes.c_void_p * len(values))(*(part.address for part in values))
        else:
            array = (_NUMBERS.get(kind, ctypes.c_int) * len(values))(*values)
        return self._set(name, kind, len(values), array)

    def set_text(self, name: Attribute, text: bytes) -> "Descriptor":
        """self, with an attribute made of bytes set."""
        return self._set(name, Type.CHAR, len(text), ctypes.create_string_buffer(text, len(text)))

    def _set(self, name: Attribute, kind: Type, count: int, array: Any) -> "Descriptor":
        check(self._calls.cudnnBackendSetAttribute(self.address, name, kind, count, ctypes.addressof(array)))
        return self

    def finalize(self) -> "Descriptor":
        """self, checked by cuDNN. Raises CudnnError if it makes no sense or is not supported."""
        check(self._calls.cudnnBackendFinalize(self.address))
        return self

    def _get(self, name: Attribute, kind: Type, count: int, array: Any) -> int:
        got = ctypes.c_int64()
        into = None if array is None else ctypes.addressof(array)
        check(self._calls.cudnnBackendGetAttribute(self.address, name, kind, count, ctypes.addressof(got), into))
        return got.value

    def number(self, name: Attribute) -> int:
        """An attribute that is one int64."""
        array = (ctypes.c_int64 * 1)()
        self._get(name, Type.INT64, 1, array)
        return array[0]

    def notes(self, name: Attribute, kind: Type) -> frozenset[int]:
        """An attribute that is a set of an enumeration's numbers."""
        array = (ctypes.c_int * 32)()
        return frozenset(array[: self._get(name, kind, 32, array)])

    def text(self, name: Attribute) -> bytes:
        """An attribute made of bytes."""
        array = ctypes.create_string_buffer(self._get(name, Type.CHAR, 0, None))
        self._get(name, Type.CHAR, len(array), array)
        return array.raw

    def fill(self, name: Attribute, parts: "Sequence[Descriptor]") -> "list[Descriptor]":
        """The first of `parts`, made over into what the attribute refers to."""
        array = (ctypes.c_void_p * len(parts))(*(part.address for part in parts))
        got = self._get(name, Type.DESCRIPTOR, len(parts), array)
        return list(parts[:got])

    def count(self, name: Attribute) -> int:
        """How many descriptors an attribute refers to."""
        return self._get(name, Type.DESCRIPTOR, 0, None)
