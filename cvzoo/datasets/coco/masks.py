"""Decodes the segmentations of COCO's files to dense masks."""

import json
import os
from collections.abc import Sequence

import numpy as np

from cvzoo.errors.exceptions import CvzooError, DatasetError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Array, FilePath, Mask, Size


class TextSpans:
    """Reads parts of a file later, such as the masks of an image.

    Raises DatasetError if the file was changed in between.
    """

    def __init__(self, path: FilePath) -> None:
        self._path = path
        self._stamp = _stamp(os.stat(path))

    def read(self, spans: Array) -> list[bytes]:
        """R of bytes, the parts from start to end (R, 2); "null" for those of -1."""
        with open(self._path, "rb", buffering=0) as file:
            if _stamp(os.fstat(file.fileno())) != self._stamp:
                raise DatasetError(f"{self._path} was changed after the data set was created")
            return [
                b"null" if start < 0 else os.pread(file.fileno(), stop - start, start) for start, stop in spans.tolist()
            ]


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def masks_from_json(texts: Sequence[bytes], size: Size, names: Sequence[str]) -> Mask:
    """(R, H, W) bool, the masks of one image, identical to pycocotools'.

    texts: R of bytes, JSON: a list of polygons, or a dictionary with size and counts (run-length encoding)
    size: (H, W); names: R of str, for error messages
    A polygon of fewer than three points is empty.
    Raises DatasetError with the annotation's name.
    """
    height, width = size
    mask = np.zeros((len(texts), height, width), bool)
    for r, (text, name) in enumerate(zip(texts, names)):
        try:
            segmentation = json.loads(text)
            if isinstance(segmentation, dict):
                rle = RLEs.from_coco([segmentation])
            elif isinstance(segmentation, list):
                polygons = [polygon for polygon in segmentation if len(polygon) >= 6]
                if not polygons:
                    continue
                rle = polygons_to_rle([polygons], size)
            else:
                raise DatasetError(f"{name} has no segmentation")
        except (CvzooError, TypeError, ValueError, RecursionError) as error:
            raise DatasetError(f"{name}: the segmentation is malformed", got=error) from error
        # before it is decoded, since a short text may encode a mask of terabytes
        if rle.sizes[0].tolist() != [height, width]:
            raise DatasetError(f"{name}: mask and image differ in size", expected=size, got=tuple(rle.sizes[0]))
        mask[r] = rle.to_masks()[0]
    return mask
