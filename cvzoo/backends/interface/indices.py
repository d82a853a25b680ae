"""Kernels of elements that indices name."""

from collections.abc import Sequence
from typing import Protocol

from cvzoo.backends.interface.array_types import Array, Pair


class IndexKernels(Protocol):
    """Indices are checked by the caller where they lie in the processor's memory; a GPU's are not looked at."""

    def as_index(self, index: tuple) -> tuple:
        """The index with its arrays where x lies; truth values may become the places where they hold.

        Raises DtypeError if its arrays cannot come along: those of a GPU do not come to the processor.
        """

    def take(self, x: Array, index: tuple) -> Array:
        """x[index], a view where the index is of slices and numbers. Raises IndexError, DtypeError as `as_index`."""

    def add_at(self, out: Array, index: tuple, values: Array) -> None:
        """`out[index] += values`, added as often as a place is named; the same bits every time."""

    def embed_id(self, w: Array, ids: Array, seen: Array | None) -> Array:
        """(..., D): the rows of w (L, D) that `ids` (...) name; zeros where `seen`, bool like ids, is False."""

    def embed_id_grad(self, gy: Array, ids: Array, seen: Array | None, w_shape: Sequence[int]) -> Array:
        """gw of w_shape (L, D) of gy (..., D)."""

    def upsampling_2d(self, x: Array, indices: Array, size: Pair) -> Array:
        """Zeros (B, C, *size) with the pixels of x (B, C, OH, OW) added at `indices`, like x: row * W + column."""

    def upsampling_2d_grad(self, gy: Array, indices: Array) -> Array:
        """gx (B, C, OH, OW) of upsampling_2d: of gy (B, C, H, W) the pixels at `indices`."""
