"""Finds boxes in another coordinate format than the layout's: x and y swapped, normalized, 1-based, corners."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, AnnotatedSet, Box
from cvzoo.datasets.layouts.decimals import finite, minus, times
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import Size

# faults of all boxes of an image, after which single boxes are not checked: they would all be outside
EXPLAINING = (Fault.XY_SWAPPED, Fault.NORMALIZED, Fault.NOT_NORMALIZED, Fault.CORNERS_FOR_SIZES)
_SLACK = 1.0  # pixels by which a rounded box may exceed the image
_MIN_SWAPPED = 3  # images
_CLEARLY = 0.02  # of a side: more than a rounding error


def find_coordinate_faults(annotated: AnnotatedSet, sizes: Sequence[Size | None]) -> Iterator[Finding]:
    """One finding per image (or for the whole data set) whose boxes are plausible only in another coordinate format.

    sizes: (H, W) that the boxes of each image refer to, None if unknown
    """
    if annotated.kind == "voc" and annotated.base == 1:
        yield from _find_zero_based(annotated)
    if annotated.kind == "coco" or (annotated.kind == "voc" and annotated.base == 0):
        yield from one_based_fault(
            (image.name, edge_counts(image, size)) for image, size in zip(annotated.images, sizes)
        )
    yield from plausible_faults(
        [image_fault(image, size, annotated.kind) for image, size in zip(annotated.images, sizes)]
    )


def image_fault(image: AnnotatedImage, size: Size | None, kind: str) -> tuple[Finding, bool] | None:
    """(what is wrong with the coordinates of the image's boxes, whether that is certain); None if they are plausible.

    size: (H, W) that they refer to, None if unknown; kind: the layout
    """
    boxed = [each for each in image.objects if each.written and finite(each.written)]
    if size is None or not boxed:
        return None
    if kind == "yolo":
        wrong = [each for each in boxed if _is_in_pixels(each, size)]
        return (_finding(Fault.NOT_NORMALIZED, image, wrong, boxed), True) if wrong else None
    if _is_normalized(boxed, size):
        return _finding(Fault.NORMALIZED, image, boxed, boxed), True
    if kind == "coco" and _are_corners(boxed, size):
        return _finding(Fault.CORNERS_FOR_SIZES, image, boxed, boxed), True
    if _are_swapped(boxed, size):
        return _finding(Fault.XY_SWAPPED, image, boxed, boxed), _is_certain(boxed, size)
    return None


def plausible_faults(found: Sequence[tuple[Finding, bool] | None]) -> list[Finding]:
    """Those of `image_fault` of all images of a data set that are certain, or frequent enough."""
    # a single box that exceeds the image, and would not if it were swapped, may have another cause
    n_swapped = sum(each is not None and each[0].kind is Fault.XY_SWAPPED for each in found)
    return [each[0] for each in found if each is not None and (each[1] or n_swapped >= _MIN_SWAPPED)]


def _is_certain(boxed: Sequence[AnnotatedObject], size: Size) -> bool:
    """Whether more than one box, or a mask, shows that x and y are swapped."""
    n_outside = sum(each.bbox is not None and _excess(each.bbox, size) > _CLEARLY for each in boxed)
    return n_outside >= 2 or any(each.polygons and not _is_quad(each) for each in boxed)


def reinterpret(each: AnnotatedObject, kind: Fault, size: Size) -> AnnotatedObject:
    """The object with its box read in the coordinate format of the fault. size: (H, W) of its image."""
    if each.bbox is None or not finite(each.bbox):
        return each
    y_min, x_min, y_max, x_max = each.bbox
    height, width = size
    if kind is Fault.XY_SWAPPED:
        bbox = (x_min, y_min, x_max, y_max)
        polygons = tuple(_swap_xy(polygon) for polygon in each.polygons) if _is_quad(each) else each.polygons
        return dataclasses.replace(each, bbox=bbox, polygons=polygons)
    if kind is Fault.NORMALIZED:
        if len(each.written) == 8:
            polygon = tuple(times(value, size[1 - i % 2]) for i, value in enumerate(each.written))
            xs, ys = polygon[0::2], polygon[1::2]
            return dataclasses.replace(each, bbox=(min(ys), min(xs), max(ys), max(xs)), polygons=(polygon,))
        # undoes the subtraction of VOC's 1, which does not apply to fractions
        back = minus(each.written[1], each.bbox[0]) if each.bbox[0] != each.written[1] else 0
        y_min, x_min, y_max, x_max = (round(value + back, 12) for value in each.bbox)
        bbox = (times(y_min, height), times(x_min, width), times(y_max, height), times(x_max, width))
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
    bbox = (minus(y_min, step), minus(x_min, step), minus(y_max, step), minus(x_max, step))
    return dataclasses.replace(each, bbox=bbox)


def _finding(
    kind: Fault, image: AnnotatedImage, wrong: Sequence[AnnotatedObject], boxed: Sequence[AnnotatedObject]
) -> Finding:
    example = ", ".join(f"{value:g}" for value in wrong[0].written)
    return Finding(
        kind,
        f"{len(wrong)} of {counted(len(boxed), 'box', 'boxes')}, such as ({example})",
        image.name,
        wrong[0].index if len(boxed) == 1 else None,
    )


def _is_quad(each: AnnotatedObject) -> bool:
    return len(each.written) == 8


def _swap_xy(polygon: Sequence[float]) -> tuple[float, ...]:
    return tuple(value for x, y in zip(polygon[0::2], polygon[1::2]) for value in (y, x))


def _is_normalized(boxed: Sequence[AnnotatedObject], size: Size) -> bool:
    numbers = [value for each in boxed for value in each.written]
    return min(size) > 2 and all(0 <= value <= 1 for value in numbers) and any(value % 1 for value in numbers)


def _is_in_pixels(each: AnnotatedObject, size: Size) -> bool:
    x, y, w, h = each.written
    return max(each.written) > 2 and x <= size[1] and y <= size[0] and w <= size[1] and h <= size[0]


def _excess(bbox: Box, size: Size) -> float:
    """By how much a box exceeds the image, as a fraction of the image's side."""
    _y_min, _x_min, y_max, x_max = bbox
    height, width = size
    return max((y_max - height - _SLACK) / height, (x_max - width - _SLACK) / width)


def _are_corners(boxed: Sequence[AnnotatedObject], size: Size) -> bool:
    height, width = size
    for each in boxed:
        x, y, w, h = each.written
        if not (w > x and h > y and w <= width + _SLACK and h <= height + _SLACK):
            return False
    if any(each.polygons for each in boxed):
        return all(_is_around(each, each.written) for each in boxed if each.polygons)
    return any(each.bbox is not None and _excess(each.bbox, size) > _CLEARLY for each in boxed)


def _is_around(each: AnnotatedObject, corners: Sequence[float]) -> bool:
    """Whether corners are the box around the polygons, while the box that was read from them is not."""
    x_min, y_min, x_max, y_max = corners
    xs = [value for polygon in each.polygons for value in polygon[0::2]]
    ys = [value for polygon in each.polygons for value in polygon[1::2]]
    differences = (min(xs) - x_min, min(ys) - y_min, max(xs) - x_max, max(ys) - y_max)
    return max(map(abs, differences)) <= 2 and not (each.bbox is not None and _is_box_of(xs, ys, each.bbox))


def _is_box_of(xs: Sequence[float], ys: Sequence[float], bbox: Box) -> bool:
    y_min, x_min, y_max, x_max = bbox
    return max(abs(min(xs) - x_min), abs(min(ys) - y_min), abs(max(xs) - x_max), abs(max(ys) - y_max)) <= 2


def _are_swapped(boxed: Sequence[AnnotatedObject], size: Size) -> bool:
    bboxes = [each.bbox for each in boxed if each.bbox is not None]
    swapped = [(x_min, y_min, x_max, y_max) for y_min, x_min, y_max, x_max in bboxes]
    masked = [(each, each.bbox) for each in boxed if each.polygons and each.bbox is not None and not _is_quad(each)]
    if masked:
        return all(_is_around(each, bbox) for each, bbox in masked)
    return any(_excess(bbox, size) > _CLEARLY for bbox in bboxes) and all(_excess(bbox, size) <= 0 for bbox in swapped)


def _find_zero_based(annotated: AnnotatedSet) -> Iterator[Finding]:
    """VOC's coordinates are 1-based, so more boxes that begin at 0 than at 1 show that these are 0-based."""
    zeros: list[str] = []
    ones = 0
    for image in annotated.images:
        for each in image.objects:
            if len(each.written) == 4 and finite(each.written) and min(each.written) >= 0 and max(each.written) > 1:
                starts = each.written[:2]
                zeros += [image.name] if 0 in starts else []
                ones += 1 in starts
    if len(zeros) > ones:
        yield Finding(
            Fault.ZERO_BASED,
            f"{counted(len(zeros), 'box begins', 'boxes begin')} at 0, {ones} at 1, as in {zeros[0]}; base=0 "
            "reads them as 0-based",
        )


def edge_counts(image: AnnotatedImage, size: Size | None) -> tuple[int, int, int]:
    """The numbers of boxes of an image that end a pixel beyond it, that begin at 0, and that begin at 1."""
    n_late = n_zero = n_edge = 0
    for each in image.objects:
        if size is None or each.bbox is None or not finite(each.bbox):
            continue
        y_min, x_min, y_max, x_max = each.bbox
        n_zero += 0 in (y_min, x_min)
        n_edge += 1 in (y_min, x_min)
        n_late += y_max == size[0] + 1 or x_max == size[1] + 1
    return n_late, n_zero, n_edge


def one_based_fault(counts: Iterable[tuple[str, tuple[int, int, int]]]) -> Iterator[Finding]:
    """COCO's coordinates are 0-based and end at most at the width, so ends at width + 1 and no 0 show 1-based ones.

    counts: name and `edge_counts` of each image
    """
    n_late = n_zero = n_edge = 0
    first = ""
    for name, (late, zero, edge) in counts:
        first = first or (name if late else "")
        n_late, n_zero, n_edge = n_late + late, n_zero + zero, n_edge + edge
    if n_late + n_edge >= 3 and n_late and not n_zero:
        yield Finding(
            Fault.ONE_BASED,
            f"{counted(n_late, 'box ends', 'boxes end')} a pixel beyond the image, {n_edge} begin at 1, none "
            f"at 0; {first}",
        )
