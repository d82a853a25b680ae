"""One object as it should have been."""

import dataclasses
from collections.abc import Callable, Collection

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.meanings import reread
from cvzoo.datasets.layouts.annotated_set import AnnotatedObject
from cvzoo.datasets.layouts.decimals import finite
from cvzoo.errors.exceptions import CvzooError
from cvzoo.geometry.polygons_to_rle import polygons_to_rle

_DROP = (
    Fault.CLASS_UNKNOWN,
    Fault.CLASS_MISSING,
    Fault.BOX_MISSING,
    Fault.BOX_NOT_FINITE,
    Fault.BOX_EMPTY,
    Fault.BOX_DUPLICATE,
)
_SLACK = 0.51  # pixels that the doctor lets pass


def fix_object(
    each: AnnotatedObject,
    size: tuple[int, int] | None,
    kinds: Collection[Fault],
    *,
    meaning: Fault | None,
    step: Fault | None,
    last_pixel: int,
    log: Callable[[Fault, str, int], None],
) -> AnnotatedObject | None:
    """The object as it should be, None if it is left out.

    size: (H, W) of its photo; kinds: of the findings about it; meaning: how the boxes of its photo are to be read
    step: how those of the whole set are; last_pixel: 1 where a box ends with its last pixel; log: told what is done
    """
    fatal = next((kind for kind in _DROP if kind in kinds), None)
    if fatal is None and (each.bbox is None or each.name is None):
        fatal = Fault.FIELD_MALFORMED
    if fatal is not None:
        log(fatal, "object left out", each.index)
        return None
    before = each
    if meaning is not None and size is not None:
        each = reread(each, meaning, size)
    if step is not None and size is not None:
        each = reread(each, step, size)
    each = _with_ordered_corners(each, log)
    each = _inside(each, size, last_pixel, log)
    if each is None:
        return None
    if each.bbox != before.bbox and not each.polygons and each.rle is None and "area" in each.extra:
        # without a mask the area was the box's, and that is another now
        extra = {key: value for key, value in each.extra.items() if key != "area"}
        each = dataclasses.replace(each, extra=extra)
    return _with_sound_extras(each, size, kinds, log)


def _with_ordered_corners(each, log):
    y_min, x_min, y_max, x_max = each.bbox
    if y_min <= y_max and x_min <= x_max:
        return each
    log(Fault.BOX_NEGATIVE, Fault.BOX_NEGATIVE.fix, each.index)
    bbox = (min(y_min, y_max), min(x_min, x_max), max(y_min, y_max), max(x_min, x_max))
    return dataclasses.replace(each, bbox=bbox)


def _inside(each, size, last_pixel, log):
    if size is None:
        return each
    height, width = size[0] - last_pixel, size[1] - last_pixel
    y_min, x_min, y_max, x_max = each.bbox
    if max(-y_min, -x_min, y_max - height, x_max - width) > _SLACK:
        bbox = (max(y_min, 0.0), max(x_min, 0.0), min(y_max, float(height)), min(x_max, float(width)))
        if bbox[0] >= bbox[2] or bbox[1] >= bbox[3]:
            log(Fault.BOX_BEYOND, "object left out", each.index)
            return None
        log(Fault.BOX_OUTSIDE, Fault.BOX_OUTSIDE.fix, each.index)
        each = dataclasses.replace(each, bbox=bbox)
        if "text" in each.extra:  # the corners are the box itself
            limits = (float(width), float(height))
            polygon = tuple(min(max(value, 0.0), limits[i % 2]) for i, value in enumerate(each.polygons[0]))
            each = dataclasses.replace(each, polygons=(polygon,))
        elif len(each.written) == 4 and each.polygons and "area" not in each.extra:
            each = dataclasses.replace(each, polygons=())  # YOLO's polygon would bring its own box back
    if each.bbox[0] == each.bbox[2] or each.bbox[1] == each.bbox[3]:
        log(Fault.BOX_EMPTY, "object left out", each.index)
        return None
    return each


def _with_sound_extras(each, size, kinds, log):
    extra = dict(each.extra)
    changed = {}
    if Fault.MASK_MALFORMED in kinds:
        log(Fault.MASK_MALFORMED, Fault.MASK_MALFORMED.fix, each.index)
        changed |= {"polygons": (), "rle": None}
    if Fault.AREA_WRONG in kinds:
        extra.pop("area", None)
        area = None if "polygons" in changed else _mask_area(each, size)
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
            log(Fault.POINTS_MALFORMED, "num_keypoints counted anew", each.index)
        else:
            changed["points"] = ()
            extra.pop("num_keypoints", None)
            log(Fault.POINTS_MALFORMED, Fault.POINTS_MALFORMED.fix, each.index)
    if Fault.FIELD_MALFORMED in kinds:
        log(Fault.FIELD_MALFORMED, "the field left out", each.index)
    return dataclasses.replace(each, extra=extra, **changed)


def _mask_area(each, size):
    if not each.polygons or size is None:
        return None
    try:
        area = int(polygons_to_rle([[list(polygon) for polygon in each.polygons]], size).area()[0])
    except CvzooError:
        return None
    y_min, x_min, y_max, x_max = each.bbox
    return area if 0 < area <= (y_max - y_min + 2) * (x_max - x_min + 2) else None
