"""Reader of panoptic segmentations in COCO's format: a JSON file, and a folder of PNG files with segment ids."""

import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np

from cvzoo.errors.exceptions import FileFormatError, ValueRangeError
from cvzoo.images.read_image import read_image
from cvzoo.typing.aliases import Array, FilePath


class _Segment(msgspec.Struct):
    id: int
    category_id: int
    iscrowd: int | bool = 0
    area: float | msgspec.UnsetType = msgspec.UNSET


class _Annotation(msgspec.Struct):
    image_id: int | str
    file_name: str
    segments_info: list[_Segment]


class _Category(msgspec.Struct):
    id: int
    isthing: int | bool
    name: str


class _File(msgspec.Struct):
    annotations: list[_Annotation]
    categories: list[_Category] = []


class PanopticAnnotation(NamedTuple):
    """One image: path of its PNG file, and segments as `eval_panoptic_segmentation` takes them."""

    path: pathlib.Path
    segments: list[dict[str, Any]]

    def read_map(self) -> Array:
        """(H, W) int64, the segment id of each pixel, R + 256 G + 65536 B; 0 for none. Raises ImageError, OSError."""
        red, green, blue = read_image(self.path, background=None, dtype=np.uint8).astype(np.int64)
        return red + 256 * green + 65536 * blue


class COCOPanoptic(NamedTuple):
    """A panoptic data set, or results: categories as dictionaries of id, isthing and name; annotations by image id."""

    categories: list[dict[str, Any]]
    annotations: Mapping[int | str, PanopticAnnotation]


def read_coco_panoptic(path: FilePath, folder: FilePath | None = None) -> COCOPanoptic:
    """The segments of a panoptic JSON file; maps are read image by image, by `PanopticAnnotation.read_map`.

    folder: where the PNG files are; None: beside the JSON file, in a folder of its name without the ending
    Raises FileFormatError if the file is not such JSON, ValueRangeError if an image occurs twice or the name of a PNG
    file leads to another folder, OSError.

    Source: the format of the COCO panoptic task (panopticapi).
    """
    path = pathlib.Path(path)
    folder = path.with_suffix("") if folder is None else pathlib.Path(folder)
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_File)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise FileFormatError(f"{path}: not COCO's panoptic JSON: {error}") from error
    annotations: dict[int | str, PanopticAnnotation] = {}
    for each in file.annotations:
        if each.image_id in annotations:
            raise ValueRangeError(f"{path}: image {each.image_id} is annotated twice")
        if pathlib.PureWindowsPath(each.file_name).name != each.file_name or each.file_name in ("", ".", ".."):
            raise ValueRangeError(f"{path}: a file name must not contain a folder", got=each.file_name)
        segments = [msgspec.to_builtins(segment) for segment in each.segments_info]
        annotations[each.image_id] = PanopticAnnotation(folder / each.file_name, segments)
    return COCOPanoptic([msgspec.to_builtins(category) for category in file.categories], annotations)
