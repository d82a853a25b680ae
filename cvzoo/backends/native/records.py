"""Columns of the records of a JSON text by our own kernels."""

import ctypes
from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.native.library import native
from cvzoo.backends.native.plans import RecordsPlan, RunsPlan, VerticesPlan

FieldKind: TypeAlias = Literal[
    "integer", "number", "number or none", "flag or none", "box", "box or zeros", "runs", "span"
]

# (dtype, shape of a value, missing value), in the order of the numbers that records.c has
_KINDS: dict[FieldKind, tuple[type, tuple[int, ...], float]] = {
    "integer": (np.int64, (), 0),
    "number": (np.float64, (), 0),
    "number or none": (np.float64, (), np.nan),
    "flag or none": (np.float64, (), np.nan),
    "box": (np.float64, (4,), 0),
    "box or zeros": (np.float64, (4,), 0),
    "runs": (np.int64, (5,), 0),  # H, W, begin and end of the string in the text, number of its runs
    "span": (np.int64, (2,), 0),  # begin and end in the text
}
_RECORDS = 1 << 14  # of a call
_SHORTEST_PAIR, _SHORTEST_RING = 4, 13  # characters: `0,0,` and `[0,0,0,0,0,0]`


def columns_natively(text: np.ndarray, fields: Mapping[str, FieldKind]) -> dict[str, np.ndarray] | None:
    """A column for each field of a JSON list of objects; None if there is no kernel or the text is not plain.

    text: (N,) uint8; fields: what is read, by name

    Text is plain if it has all that is read, and no escapes but those of COCO's strings, no characters outside of
    ASCII and no numbers of more than 19 digits.
    """
    library = native()
    if library is None:
        return None
    names = np.frombuffer("".join(fields).encode(), np.uint8)
    name_ends = np.cumsum([len(name) for name in fields], dtype=np.int64)
    kinds = np.array([list(_KINDS).index(kind) for kind in fields.values()], np.int64)
    state = np.zeros(3, np.int64)
    head = [numpy_address(each) for each in (text, names, name_ends, kinds, state)]
    plan = RecordsPlan(len(text), len(fields), _RECORDS)
    parts: list[list[np.ndarray]] = []
    while not state[2]:
        columns: list[np.ndarray] = [
            np.full((_RECORDS, *shape), missing, dtype)
            for dtype, shape, missing in (_KINDS[kind] for kind in fields.values())
        ]
        arrays = (ctypes.c_void_p * (len(head) + len(columns)))(*head, *map(numpy_address, columns))
        if library.kernels["records"](ctypes.addressof(plan), arrays, 1):
            return None
        parts.append([column[: state[1]] for column in columns])
    return {name: np.concatenate(column) for name, column in zip(fields, zip(*parts))}


def runs_of_texts(text: np.ndarray, runs: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """counts (N,) int32 and offsets (R + 1,) int64 of COCO's strings; None if one is malformed.

    text: (N,) uint8; runs: (R, 5) int64, as `columns_natively` gives them
    """
    library = native()
    if library is None:
        return None
    offsets = np.zeros(len(runs) + 1, np.int64)
    np.cumsum(runs[:, 4], out=offsets[1:])
    begin, end = np.ascontiguousarray(runs[:, 2:4].T)
    counts = np.empty(offsets[-1], np.int32)
    longest = np.empty(int((end - begin).max(initial=0)), np.uint8)
    arrays = (ctypes.c_void_p * 6)(*map(numpy_address, (text, begin, end, offsets, counts, longest)))
    failed = library.kernels["run_texts"](ctypes.byref(RunsPlan(len(runs))), arrays, 1)
    return None if failed else (counts, offsets)


def vertices_of_texts(
    text: np.ndarray, spans: np.ndarray, *, limit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """x, y (V,) int32, on the fine grid of `geometry.polygons_to_rle`, the number of vertices of each of P polygons,
    (P,) int64, and the index of its object, (P,) int64; None if a list of polygons is not plain or malformed.

    text: (N,) uint8; spans: (R, 2) int64, begin and end of each object's list of polygons
    limit: of a coordinate's absolute value
    """
    library = native()
    if library is None:
        return None
    n_character = int((spans[:, 1] - spans[:, 0]).sum())
    room_vertices, room_rings = n_character // _SHORTEST_PAIR + len(spans), n_character // _SHORTEST_RING
    x, y = np.empty((2, room_vertices), np.int32)
    ends, owners, n_ring = np.empty(room_rings, np.int64), np.empty(room_rings, np.int64), np.zeros(1, np.int64)
    spans = np.ascontiguousarray(spans)
    arrays = (ctypes.c_void_p * 7)(*map(numpy_address, (text, spans, x, y, ends, owners, n_ring)))
    plan = VerticesPlan(len(spans), room_vertices, room_rings, limit)
    if library.kernels["vertices"](ctypes.addressof(plan), arrays, 1):
        return None
    ends, owners = ends[: n_ring[0]], owners[: n_ring[0]]
    n_vertex = int(ends[-1]) if len(ends) else 0
    return x[:n_vertex], y[:n_vertex], np.diff(ends, prepend=0), owners
