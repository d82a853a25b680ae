"""The outlines of masks as polygons, for layouts that have no masks."""

import dataclasses

import numpy as np

from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject
from cvzoo.geometry.rle import RLEs
from cvzoo.images.import_cv2 import import_cv2

_FINE = 2  # pixels of the enlarged mask per pixel


def mask_polygons(masks: RLEs) -> list[tuple[tuple[float, ...], ...]]:
    """For each mask the outlines of its parts, flat x0, y0, x1, y1 ... in pixels; holes are filled.

    The polygons pass a quarter of a pixel inside of the mask's border, so that they contain the centers of its pixels
    and no others. Raises MissingExtraError without OpenCV.
    """
    cv2 = import_cv2()
    found = []
    for r in range(len(masks)):
        y_min, x_min, y_max, x_max = masks[[r]].to_bbox()[0].astype(int).tolist()
        window = masks[[r]].to_masks()[0, y_min:y_max, x_min:x_max].astype(np.uint8)
        large = np.ascontiguousarray(window.repeat(_FINE, axis=0).repeat(_FINE, axis=1))
        outlines = () if not large.size else cv2.findContours(large, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0]
        polygons = []
        for outline in outlines:
            points = (outline.reshape(-1, 2) + 0.5) / _FINE + (x_min, y_min)
            polygons.append(tuple(points.ravel().tolist()))
        found.append(tuple(polygons))
    return found


def with_polygons(image: AnnotatedImage) -> AnnotatedImage:
    """The image with polygons instead of run-length encoded masks, and the boxes around them."""
    return dataclasses.replace(image, objects=tuple(map(_outlined, image.objects)))


def _outlined(each: AnnotatedObject) -> AnnotatedObject:
    if each.rle is None:
        return each
    (polygons,) = mask_polygons(RLEs.from_coco([each.rle]))
    xs = [value for polygon in polygons for value in polygon[0::2]]
    ys = [value for polygon in polygons for value in polygon[1::2]]
    bbox = (min(ys), min(xs), max(ys), max(xs)) if polygons else each.bbox
    return dataclasses.replace(each, rle=None, polygons=polygons, bbox=bbox)
