"""Boxes whose numbers were meant in another way: swapped, normalised, counted from 1, corners for sizes."""

import dataclasses
from collections.abc import Iterator, Sequence

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedObject, AnnotatedPhoto, AnnotatedSet
from cvzoo.datasets.layouts.decimals import finite, minus, times

Size = tuple[int, int] | None
# kinds whose boxes are not judged one by one any more: they would all be called outside
EXPLAINING = (Fault.XY_SWAPPED, Fault.NORMALIZED, Fault.NOT_NORMALIZED, Fault.CORNERS_FOR_SIZES)
_SLACK = 1.0  # pixels that a rounded box may stick out
_HABIT = 3  # photos
_CLEARLY = 0.02  # of a side: sticking out by so much is no rounding


def find_meanings(found: AnnotatedSet, sizes: Sequence[Size]) -> Iterator[Finding]:
    """One finding a photo (or one for the set) whose boxes make sense only if they are read in another way.

    sizes: of each photo the (H, W) that its boxes are for, None if nobody knows
    """
    if found.kind == "voc" and found.base == 1:
        yield from _find_zero_based(found)
    if found.kind == "coco" or (found.kind == "voc" and found.base == 0):
        yield from _find_one_based(found, sizes)
    swapped = []
    for photo, size in zip(found.photos, sizes):
        boxed = [each for each in photo.objects if each.written and finite(each.written)]
        if size is None or not boxed:
            continue
        if found.kind == "yolo":
            wrong = [each for each in boxed if _is_in_pixels(each, size)]
            if wrong:
                yield _finding(Fault.NOT_NORMALIZED, photo, wrong, boxed)
        elif _is_normalized(boxed, size):
            yield _finding(Fault.NORMALIZED, photo, boxed, boxed)
        elif found.kind == "coco" and _are_corners(boxed, size):
            yield _finding(Fault.CORNERS_FOR_SIZES, photo, boxed, boxed)
        elif _are_swapped(boxed, size):
            swapped.append((photo, boxed, _is_sure(boxed, size)))
    # one box that sticks out and would not if it were swapped may be a slip; many are a habit
    for photo, boxed, is_sure in swapped:
        if is_sure or len(swapped) >= _HABIT:
            yield _finding(Fault.XY_SWAPPED, photo, boxed, boxed)


def _is_sure(boxed, size):
    """Whether more than one box tells that x and y are swapped, or a mask does."""
    n_out = sum(each.bbox is not None and _beyond(each.bbox, size) > _CLEARLY for each in boxed)
    return n_out >= 2 or any(each.polygons and not _is_quad(each) for each in boxed)


def reread(each: AnnotatedObject, kind: Fault, size: tuple[int, int]) -> AnnotatedObject:
    """The object with its box read as the finding says. size: (H, W) of its photo."""
    if each.bbox is None or not finite(each.bbox):
        return each
    y_min, x_min, y_max, x_max = each.bbox
    height, width = size
    if kind is Fault.XY_SWAPPED:
        bbox = (x_min, y_min, x_max, y_max)
        polygons = tuple(_swapped(polygon) for polygon in each.polygons) if _is_quad(each) else each.polygons
        return dataclasses.replace(each, bbox=bbox, polygons=polygons)
    if kind is Fault.NORMALIZED:
        if len(each.written) == 8:
            polygon = tuple(times(value, size[1 - i % 2]) for i, value in enumerate(each.written))
            xs, ys = polygon[0::2], polygon[1::2]
            return dataclasses.replace(each, bbox=(min(ys), min(xs), max(ys), max(xs)), polygons=(polygon,))
        # VOC's 1 was taken off fractions that know no 1
        back = minus(each.written[1], each.bbox[0]) if each.bbox[0] != each.written[1] else 0
        corners = (y_min + back, x_min + back, y_max + back, x_max + back)
        bbox = tuple(times(round(value, 12), whole) for value, whole in zip(corners, (height, width, height, width)))
        return dataclasses.replace(each, bbox=bbox)
    if kind is Fault.NOT_NORMALIZED:
        if not _is_in_pixels(each, size):
            return each
        x, y, w, h = each.written
        return dataclasses.replace(each, bbox=(y - h / 2, x - w / 2, y + h / 2, x + w / 2), polygons=())
    if kind is Fault.CORNERS_FOR_SIZES:
        x_min, y_min, x_max, y_max = map(float, each.written)
        return dataclasses.replace(each, bbox=(y_min, x_min, y_max, x_max))
    step = {Fault.ONE_BASED: 1, Fault.ZERO_BASED: -1}.get(kind, 0)
    return dataclasses.replace(each, bbox=tuple(minus(value, step) for value in each.bbox))


def _finding(kind: Fault, photo: AnnotatedPhoto, wrong: Sequence[AnnotatedObject], boxed: Sequence[AnnotatedObject]):
    example = ", ".join(f"{value:g}" for value in wrong[0].written)
    return Finding(
        kind,
        f"{len(wrong)} of {len(boxed)} boxes, as ({example})",
        photo.name,
        wrong[0].index if len(boxed) == 1 else None,
    )


def _is_quad(each):
    return len(each.written) == 8


def _swapped(polygon):
    return tuple(value for x, y in zip(polygon[0::2], polygon[1::2]) for value in (y, x))


def _is_normalized(boxed, size):
    numbers = [value for each in boxed for value in each.written]
    return min(size) > 2 and all(0 <= value <= 1 for value in numbers) and any(value % 1 for value in numbers)


def _is_in_pixels(each, size):
    x, y, w, h = each.written
    return max(each.written) > 2 and x <= size[1] and y <= size[0] and w <= size[1] and h <= size[0]


def _beyond(bbox, size):
    """How far a box sticks out, as a fraction of the photo's side."""
    _y_min, _x_min, y_max, x_max = bbox
    height, width = size
    return max((y_max - height - _SLACK) / height, (x_max - width - _SLACK) / width)


def _are_corners(boxed, size):
    height, width = size
    for each in boxed:
        x, y, w, h = each.written
        if not (w > x and h > y and w <= width + _SLACK and h <= height + _SLACK):
            return False
    if any(each.polygons for each in boxed):
        return all(_is_around(each, each.written) for each in boxed if each.polygons)
    return any(_beyond(each.bbox, size) > _CLEARLY for each in boxed)


def _is_around(each, corners):
    x_min, y_min, x_max, y_max = corners
    xs = [value for polygon in each.polygons for value in polygon[0::2]]
    ys = [value for polygon in each.polygons for value in polygon[1::2]]
    apart = (min(xs) - x_min, min(ys) - y_min, max(xs) - x_max, max(ys) - y_max)
    return max(map(abs, apart)) <= 2 and not _lies_in(xs, ys, each.bbox)


def _lies_in(xs, ys, bbox):
    y_min, x_min, y_max, x_max = bbox
    return max(abs(min(xs) - x_min), abs(min(ys) - y_min), abs(max(xs) - x_max), abs(max(ys) - y_max)) <= 2


def _are_swapped(boxed, size):
    bboxes = [each.bbox for each in boxed if each.bbox is not None]
    turned = [(x_min, y_min, x_max, y_max) for y_min, x_min, y_max, x_max in bboxes]
    masked = [each for each in boxed if each.polygons and each.bbox is not None and not _is_quad(each)]
    if masked:
        return all(_is_around(each, each.bbox) for each in masked)
    return any(_beyond(bbox, size) > _CLEARLY for bbox in bboxes) and all(_beyond(bbox, size) <= 0 for bbox in turned)


def _find_zero_based(found):
    """VOC counts from 1: boxes that begin at 0 tell of a tool that does not."""
    zeros, ones = [], 0
    for photo in found.photos:
        for each in photo.objects:
            if len(each.written) == 4 and finite(each.written) and min(each.written) >= 0 and max(each.written) > 1:
                starts = each.written[:2]
                zeros += [photo.name] if 0 in starts else []
                ones += 1 in starts
    if len(zeros) > ones:
        yield Finding(
            Fault.ZERO_BASED,
            f"{len(zeros)} boxes begin at 0, {ones} at 1, as in {zeros[0]}; base=0 reads them as they were meant",
        )


def _find_one_based(found, sizes):
    """COCO counts from 0 and a box may end at the width: ends at the width and 1, and no start at 0, tell of a 1."""
    late, n_zero, n_edge = [], 0, 0
    for photo, size in zip(found.photos, sizes):
        for each in photo.objects:
            if size is None or each.bbox is None or not finite(each.bbox):
                continue
            y_min, x_min, y_max, x_max = each.bbox
            n_zero += 0 in (y_min, x_min)
            n_edge += 1 in (y_min, x_min)
            if y_max == size[0] + 1 or x_max == size[1] + 1:
                late.append(photo.name)
    if len(late) + n_edge >= 3 and late and not n_zero:
        yield Finding(
            Fault.ONE_BASED,
            f"{len(late)} boxes end a pixel beyond the photo, {n_edge} begin at 1, none at 0; {late[0]}",
        )
