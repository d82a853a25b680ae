"""The names of the photos in a COCO annotation file."""

import os
import pathlib

import msgspec

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.evaluations.coco.json_records import convert, loads


class _Image(msgspec.Struct, gc=False):
    id: int
    file_name: str = ""


class _File(msgspec.Struct):
    images: list[_Image]


def read_photo_names(source: str | os.PathLike | bytes) -> dict[int, str]:
    """Each photo's id and its file's name ("" where the record has none), in the order of the records.

    source: a path, or the file's bytes
    Raises FileFormatError or ValueRangeError if this is no annotation file.
    """
    text = source if isinstance(source, bytes) else pathlib.Path(source).read_bytes()
    try:
        return {image.id: image.file_name for image in msgspec.json.decode(text, type=_File).images}
    except msgspec.DecodeError as error:
        if b"NaN" in text:  # no JSON for msgspec, but for many who write annotations
            file = convert(loads(text, "ground truth"), _File, "ground truth")
            return {image.id: image.file_name for image in file.images}
        name = "ground truth" if isinstance(source, bytes) else source
        raise FileFormatError(f"{name}: no COCO annotations: {error}") from error
