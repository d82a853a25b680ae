"""Images and their objects as text: rows that tasks read and write, and the hash of a data set's content.

Tasks import it, which need neither the database nor the server.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MAX_NAME = 200  # letters of a class
MAX_TEXT = 100_000  # letters of what a layout has of an image or an object
# made once: `json.dumps` with options makes one per call
_compact = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_canonical = json.JSONEncoder(allow_nan=False, separators=(",", ":"), sort_keys=True).encode


def item_line(
    ordinal: int, name: str, sha256: str, height: int, width: int, split: str, labels: str, extra: str
) -> str:
    """An image as one line of JSON, for checks and versions, which know an image again by it.

    labels: as of `text_of`; extra: JSON
    """
    return (
        f'{{"ordinal":{ordinal},"name":{json.dumps(name)},"sha256":"{sha256}","height":{height},"width":{width},'
        f'"split":{json.dumps(split)},"labels":{labels},"extra":{extra}}}\n'
    )


def text_of(objects: list[dict[str, Any]]) -> str:
    """The objects as they are stored."""
    return _compact(objects)


def content_of(objects: list[dict[str, Any]]) -> str:
    """The objects without their ids, which say nothing about the image: equal content has equal text."""
    return _canonical([{key: value for key, value in each.items() if key != "id"} for each in objects])


def content_hash(task: str, classes: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 of images, splits, classes and annotations, hexadecimal. rows: as of `item_line`, in order"""
    digest = hashlib.sha256(json.dumps([task, list(classes)]).encode())
    for row in rows:
        head = json.dumps([row["name"], row["sha256"], row["split"]])
        digest.update(f"{head}{content_of(row['labels'])}\n".encode())
    return digest.hexdigest()
