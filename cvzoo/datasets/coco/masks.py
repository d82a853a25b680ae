"""Dense masks from what COCO's files say."""

import json

import numpy as np

from cvzoo.errors.exceptions import CvzooError, DatasetError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.geometry.rle import RLEs


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
            dense = rle.to_masks()[0]
        except (CvzooError, TypeError, ValueError) as error:
            raise DatasetError(f"{name}: the segmentation is malformed", got=error) from error
        if dense.shape != (height, width):
            raise DatasetError(f"{name}: the mask is not of the photo's size", expected=size, got=dense.shape)
        mask[r] = dense
    return mask
