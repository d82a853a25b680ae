"""Corrects one object of a data set."""

import dataclasses
from collections.abc import Callable, Collection

from cvzoo.datasets.doctor.coordinate_faults import reinterpret
from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.layouts.annotated_set import AnnotatedObject
from cvzoo.datasets.layouts.decimals import finite
from cvzoo.errors.exceptions import CvzooError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle
from cvzoo.typing.aliases import Size

_DROP = (
    Fault.CLASS_UNKNOWN,
    Fault.CLASS_MISSING,
    Fault.BOX_MISSING,
    Fault.BOX_NOT_FINITE,
    Fault.BOX_EMPTY,
    Fault.BOX_DUPLICATE,
)
_OF_PLACE = (Fault.BOX_OUTSIDE, Fault.BOX_BEYOND, Fault.BOX_EMPTY)
_SLACK = 0.51  # pixels by which a box may exceed the image, as in check_boxes
Log = Callable[[Fault, str | None, int], None]


def fix_object(
    each: AnnotatedObject,
    size: tuple[int, int] | None,
    kinds: Collection[Fault],
    *,
    meaning: Fault | None,
    step: Fault | None,
    last_pixel: int,
    only_found: bool,
    log: Log,
) -> AnnotatedObject | None:
    """The corrected object, None if it is dropped.

    size: (H, W) of its image; kinds: of the findings about it; meaning: the coordinate fault of its image
    step: that of the whole data set; last_pixel: 1 if the end of a box is its last pixel; log: called for each change
    only_found: nothing is changed because of a fault that is not among these
    """
    fatal = next((kind for kind in _DROP if kind in kinds), None)
    if fatal is None and not only_found and (each.bbox is None or each.name is None):
        fatal = Fault.FIELD_MALFORMED
    if fatal is not None:
        log(fatal, "object dropped", each.index)
        return None
    original = each
    if meaning is not None and size is not None:
        each = reinterpret(each, meaning, size)
    if step is not None and size is not None:
        each = reinterpret(each, step, size)
    if not only_found or Fault.BOX_NEGATIVE in kinds:
        each = _with_ordered_corners(each, log)
    clipped = _clipped(each, size, last_pixel, set(kinds) if only_found else set(_OF_PLACE), log)
    if clipped is None:
        return None
    if clipped.bbox != original.bbox and not clipped.polygons and clipped.rle is None and "area" in clipped.extra:
        # without a mask, the area was that of the box, which was changed
        extra = {key: value for key, value in clipped.extra.items() if key != "area"}
        clipped = dataclasses.replace(clipped, extra=extra)
    return _with_valid_fields(clipped, size, kinds, log)


def _with_ordered_corners(each: AnnotatedObject, log: Log) -> AnnotatedObject:
    if each.bbox is None:
        return each
    y_min, x_min, y_max, x_max = each.bbox
    if y_min <= y_max and x_min <= x_max:
        return each
    log(Fault.BOX_NEGATIVE, Fault.BOX_NEGATIVE.fix, each.index)
    bbox = (min(y_min, y_max), min(x_min, x_max), max(y_min, y_max), max(x_min, x_max))
    return dataclasses.replace(each, bbox=bbox)


def _clipped(
    each: AnnotatedObject, size: Size | None, last_pixel: int, kinds: set[Fault], log: Log
) -> AnnotatedObject | None:
    """The object in its image, None if it is dropped. kinds: the faults because of which it may be changed"""
    if size is None or each.bbox is None:
        return each
    height, width = size[0] - last_pixel, size[1] - last_pixel
    bbox = y_min, x_min, y_max, x_max = each.bbox
    if max(-y_min, -x_min, y_max - height, x_max - width) > _SLACK:
        bbox = (max(y_min, 0.0), max(x_min, 0.0), min(y_max, float(height)), min(x_max, float(width)))
        is_beyond = bbox[0] >= bbox[2] or bbox[1] >= bbox[3]
        if (Fault.BOX_BEYOND if is_beyond else Fault.BOX_OUTSIDE) not in kinds:
            return each
        if is_beyond:
            log(Fault.BOX_BEYOND, "object dropped", each.index)
            return None
        log(Fault.BOX_OUTSIDE, Fault.BOX_OUTSIDE.fix, each.index)
        each = dataclasses.replace(each, bbox=bbox)
        if "text" in each.extra:  # SROIE's polygon is the region itself, clipped like its box
            limits = (float(width), float(height))
            polygons = (
                tuple(min(max(value, 0.0), limits[i % 2]) for i, value in enumerate(polygon))
                for polygon in each.polygons
            )
            each = dataclasses.replace(each, polygons=tuple(polygons))
        elif len(each.written) == 4 and each.polygons and "area" not in each.extra:
            each = dataclasses.replace(each, polygons=())  # otherwise YOLO's box would again be that of its polygon
    if Fault.BOX_EMPTY in kinds and (bbox[0] == bbox[2] or bbox[1] == bbox[3]):
        log(Fault.BOX_EMPTY, "object dropped", each.index)
        return None
    return each


def _with_valid_fields(each: AnnotatedObject, size: Size | None, kinds: Collection[Fault], log: Log) -> AnnotatedObject:
    extra = dict(each.extra)
    if Fault.MASK_MALFORMED in kinds:
        log(Fault.MASK_MALFORMED, Fault.MASK_MALFORMED.fix, each.index)
        each = dataclasses.replace(each, polygons=(), rle=None)
    if Fault.AREA_WRONG in kinds:
        extra.pop("area", None)
        area = _mask_area(each, size)
        if area is not None:
            extra["area"] = area
        log(Fault.AREA_WRONG, "from the box" if area is None else "from the mask", each.index)
    for kind in (Fault.ANNOTATION_ID_DUPLICATE, Fault.ANNOTATION_ID_ZERO):
        if kind in kinds:
            extra.pop("id", None)
            log(kind, kind.fix, each.index)
    if Fault.FIELD_MISSING in kinds:
        log(Fault.FIELD_MISSING, "a new id", each.index)
    if Fault.CROWD_MALFORMED in kinds:
        log(Fault.CROWD_MALFORMED, "0", each.index)
    if Fault.POINTS_MALFORMED in kinds:
        if finite(each.points) and all(v in (0, 1, 2) for v in each.points[2::3]):
            extra["num_keypoints"] = sum(v != 0 for v in each.points[2::3])
            log(Fault.POINTS_MALFORMED, "num_keypoints corrected", each.index)
        else:
            each = dataclasses.replace(each, points=())
            extra.pop("num_keypoints", None)
            log(Fault.POINTS_MALFORMED, Fault.POINTS_MALFORMED.fix, each.index)
    if Fault.FIELD_MALFORMED in kinds:
        log(Fault.FIELD_MALFORMED, "the field dropped", each.index)
    return dataclasses.replace(each, extra=extra)


def _mask_area(each: AnnotatedObject, size: Size | None) -> int | None:
    if not each.polygons or size is None or each.bbox is None:
        return None
    try:
        area = int(polygons_to_rle([[list(polygon) for polygon in each.polygons]], size).area()[0])
    except CvzooError:
        return None
    y_min, x_min, y_max, x_max = each.bbox
    return area if 0 < area <= (y_max - y_min + 2) * (x_max - x_min + 2) else None
