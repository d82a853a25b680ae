"""Weights in the order that a kernel likes best."""

import numpy as np

from cvzoo.backends.onednn.memory import is_plain, new_bytes
from cvzoo.backends.onednn.primitives import (
    DST,
    SRC,
    Handle,
    Primitive,
    attributes,
    layout_of,
    primitive_descriptor,
    same_layout,
    size_of,
)


def with_plain_strides(w: np.ndarray) -> np.ndarray:
    """w itself, or a copy in C order if the library cannot be told how it lies."""
    return w if is_plain(w) else np.ascontiguousarray(w)


class PackedWeights:
    """Weights in the order that a primitive has chosen."""

    __slots__ = ("_layout", "_reorder", "_size")

    def __init__(self, plain: Handle, chosen: int, *, name: str = ""):
        """plain: how the weights lie that will be given; name: of what else there is to their order"""
        if same_layout(plain.address, chosen):
            self._reorder = None
            return
        self._size = size_of(chosen)
        # the size tells whether a correction stands behind the weights, which is not part of their order
        self._layout = (name, self._size, layout_of(chosen))
        self._reorder = Primitive(
            primitive_descriptor("reorder", plain, chosen, attributes()), [(SRC, plain), (DST, chosen)]
        )

    def __call__(self, w: np.ndarray, pack: dict | None) -> np.ndarray:
        """w reordered, from `pack` if it is there."""
        if self._reorder is None:
            return w
        if pack is not None:
            packed = pack.get(self._layout)
            if packed is not None:
                return packed
        packed = new_bytes(self._size)
        self._reorder(w, packed)
        if pack is not None:
            pack[self._layout] = packed
        return packed
