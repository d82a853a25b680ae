"""cuDNN's backend descriptors: attributes are set, the descriptor is finalized, then it can be queried."""

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

from cvzoo.backends.cudnn.library import check, library
from cvzoo.backends.cudnn.names import Attribute, Kind, Type

_Number: TypeAlias = ctypes.c_int | ctypes.c_int64 | ctypes.c_float | ctypes.c_bool | ctypes.c_void_p
_C_TYPES: dict[Type, type[_Number]] = {
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
        self._parts: list[Descriptor] = []  # cuDNN does not own the descriptors that attributes refer to
        self.address: int | None = None
        pointer = ctypes.c_void_p()
        check(self._calls.cudnnBackendCreateDescriptor(kind, ctypes.addressof(pointer)))
        self.address = pointer.value

    def __del__(self) -> None:
        if self.address is not None and not sys.is_finalizing():
            self._calls.cudnnBackendDestroyDescriptor(self.address)

    def set(self, name: Attribute, kind: Type, *values: "Descriptor | float | None") -> "Descriptor":
        """self, with an attribute set; descriptors among the values are kept alive."""
        if kind is Type.DESCRIPTOR:
            parts = [value for value in values if isinstance(value, Descriptor)]
            self._parts += parts
            array: ctypes.Array = (ctypes.c_void_p * len(parts))(*[part.address for part in parts])
        else:
            c_type: Any = _C_TYPES.get(kind, ctypes.c_int)  # ctypes itself checks the values
            array = (c_type * len(values))(*values)
        return self._set(name, kind, len(values), array)

    def set_text(self, name: Attribute, text: bytes) -> "Descriptor":
        """self, with an attribute of bytes set."""
        return self._set(name, Type.CHAR, len(text), ctypes.create_string_buffer(text, len(text)))

    def _set(self, name: Attribute, kind: Type, count: int, array: ctypes.Array) -> "Descriptor":
        check(self._calls.cudnnBackendSetAttribute(self.address, name, kind, count, ctypes.addressof(array)))
        return self

    def finalize(self) -> "Descriptor":
        """self, finalized. Raises CudnnError if it is invalid or not supported."""
        check(self._calls.cudnnBackendFinalize(self.address))
        return self

    def _get(self, name: Attribute, kind: Type, count: int, array: ctypes.Array | None) -> int:
        got = ctypes.c_int64()
        into = None if array is None else ctypes.addressof(array)
        check(self._calls.cudnnBackendGetAttribute(self.address, name, kind, count, ctypes.addressof(got), into))
        return got.value

    def number(self, name: Attribute) -> int:
        """The value of an int64 attribute."""
        array = (ctypes.c_int64 * 1)()
        self._get(name, Type.INT64, 1, array)
        return array[0]

    def notes(self, name: Attribute, kind: Type) -> frozenset[int]:
        """The values of an attribute that is a set of notes."""
        array = (ctypes.c_int * 32)()
        return frozenset(array[: self._get(name, kind, 32, array)])

    def text(self, name: Attribute) -> bytes:
        """The value of an attribute of bytes."""
        array = ctypes.create_string_buffer(self._get(name, Type.CHAR, 0, None))
        self._get(name, Type.CHAR, len(array), array)
        return array.raw

    def fill(self, name: Attribute, parts: "Sequence[Descriptor]") -> "list[Descriptor]":
        """The first of `parts`, filled with the descriptors that the attribute refers to."""
        array = (ctypes.c_void_p * len(parts))(*(part.address for part in parts))
        got = self._get(name, Type.DESCRIPTOR, len(parts), array)
        return list(parts[:got])

    def count(self, name: Attribute) -> int:
        """The number of descriptors that an attribute refers to."""
        return self._get(name, Type.DESCRIPTOR, 0, None)
