"""Columns of records of plain JSON, read by our own kernels without an object for each record.

Text that is not plain, or malformed, is left to `json_records` and `mask_records`, whose errors name the record.
"""

import mmap
from typing import Any

import msgspec
import numpy as np

from cvzoo.backends.native.records import FieldKind, columns_natively, runs_of_texts
from cvzoo.errors.exceptions import CvzooError
from cvzoo.evaluations.coco.json_records import Box, Integer
from cvzoo.evaluations.coco.mask_records import RLERecord, masks_of_counts
from cvzoo.geometry.polygons_to_rle import polygons_of_text
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array

_KINDS: dict[object, FieldKind] = {
    Integer: "integer",
    float: "number",
    float | None: "number or none",
    int | bool | None: "flag or none",
    Box: "box",
    RLERecord: "runs",
    list[list[float]] | RLERecord: "span",
}
# Objects whose polygons are drawn at once, which limits the memory for their vertices
_BLOCK = 1 << 12


def plain_columns(text: bytes | mmap.mmap | memoryview, record: type[msgspec.Struct]) -> dict[str, Any] | None:
    """The columns of a JSON array of objects by field of the record, arrays; None if the text is empty or not plain.

    record: a msgspec.Struct
    Masks of runs are (R, 5) int64 and masks of polygons or runs (R, 2) int64, see `columns_natively`.
    """
    fields: dict[str, FieldKind] = {}
    for field in msgspec.structs.fields(record):
        kind = _KINDS.get(field.type)
        if kind is None:
            return None
        fields[field.name] = kind if kind != "box" or field.required else "box or zeros"
    if not len(text):
        return None
    columns = columns_natively(np.frombuffer(text, np.uint8), fields)
    return columns if columns and len(columns["image_id"]) else None


def plain_masks(text: bytes | mmap.mmap | memoryview, runs: Array) -> RLEs | None:
    """The masks of a column of runs; None if one is malformed."""
    decoded = runs_of_texts(np.frombuffer(text, np.uint8), runs)
    try:
        return None if decoded is None else RLEs(*decoded, runs[:, :2])
    except CvzooError:
        return None


def plain_masks_or_polygons(text: bytes | mmap.mmap | memoryview, spans: Array, sizes: Array) -> RLEs | None:
    """The masks of a column of polygons or runs; None if one is malformed or not plain.

    sizes: (R, 2) float64, (H, W) of the images, NaN where unknown
    """
    characters = np.frombuffer(text, np.uint8)
    is_encoded = characters[spans[:, 0]] == ord("{")
    encoded, drawn = np.flatnonzero(is_encoded), np.flatnonzero(~is_encoded)
    if np.isnan(sizes[drawn]).any():
        return None
    parts = []
    try:
        if len(encoded):
            texts = [characters[begin:end].tobytes() for begin, end in spans[encoded].tolist()]
            records = msgspec.json.decode(b"[" + b",".join(texts) + b"]", type=list[RLERecord])
            counts, shapes = [each.counts for each in records], [each.size for each in records]
            parts.append(masks_of_counts(counts, shapes, "mask", encoded))
        for start in range(0, len(drawn), _BLOCK):
            some = drawn[start : start + _BLOCK]
            masks = polygons_of_text(characters, spans[some], sizes[some].astype(np.int64))
            if masks is None:
                return None
            parts.append(masks)
    except (CvzooError, msgspec.DecodeError):
        return None
    masks = RLEs.concatenate(parts)
    return masks if not len(encoded) else masks[np.argsort(np.concatenate([encoded, drawn]))]
