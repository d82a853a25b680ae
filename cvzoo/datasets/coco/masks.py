"""Dense masks from what COCO's files say."""

import json
import os

import numpy as np

from cvzoo.errors.exceptions import CvzooError, DatasetError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs


class TextSpans:
    """Pieces of a file that is read again, which must be the same file still.

    Raises DatasetError if it has changed since.
    """

    def __init__(self, path):
        self._path = path
        self._stamp = _stamp(os.stat(path))

    def read(self, spans):
        """bytes for each of the spans (R, 2); "null" for those of -1."""
        with open(self._path, "rb", buffering=0) as file:
            if _stamp(os.fstat(file.fileno())) != self._stamp:
                raise DatasetError(f"{self._path} has changed since the data set was made")
            return [
                b"null" if start < 0 else os.pread(file.fileno(), stop - start, start) for start, stop in spans.tolist()
            ]


def _stamp(status):
    return status.st_size, status.st_mtime_ns


def masks_from_json(texts, size, names):
    """(R, H, W) bool, the masks of one photo, equal to pycocotools' pixel for pixel.

    texts: R of bytes, JSON: a list of polygons, or a dictionary with size and counts
    size: (H, W); names: R of str, what errors call them
    A polygon of fewer than three points covers nothing.
    Raises DatasetError with the annotation's name.
    """
    height, width = size
    mask = np.zeros((len(texts), height, width), bool)
    for r, (text, name) in enumerate(zip(texts, names)):
        try:
            found = json.loads(text)
            if isinstance(found, dict):
                rle = RLEs.from_coco([found])
            elif isinstance(found, list):
                polygons = [polygon for polygon in found if len(polygon) >= 6]
                if not polygons:
                    continue
                rle = polygons_to_rle([polygons], size)
            else:
                raise DatasetError(f"{name} has no segmentation")
        except (CvzooError, TypeError, ValueError, RecursionError) as error:
            raise DatasetError(f"{name}: the segmentation is malformed", got=error) from error
        # before it is unfolded: a short text may say that it covers terabytes
        if rle.sizes[0].tolist() != [height, width]:
            raise DatasetError(f"{name}: the mask is not of the photo's size", expected=size, got=tuple(rle.sizes[0]))
        mask[r] = rle.to_masks()[0]
    return mask
