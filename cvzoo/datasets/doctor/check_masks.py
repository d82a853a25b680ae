"""Finds faults of masks, areas and keypoints, which only COCO's files have."""

from collections.abc import Iterator, Mapping
from typing import Any

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, Box
from cvzoo.datasets.layouts.decimals import finite
from cvzoo.errors.exceptions import CvzooError
from cvzoo.geometry.rle import RLEs
from cvzoo.typing.aliases import Size

_SLACK = 3.0  # pixels between a mask and its box, as they occur in published files


def check_masks(image: AnnotatedImage, size: tuple[int, int] | None) -> Iterator[Finding]:
    """The faults of the image's masks, areas and keypoints. size: (H, W), None if unknown."""
    for each in image.objects:
        if each.rle is not None:
            yield from _check_rle(each, each.rle, image.name, size)
        if each.polygons and each.bbox is not None and finite(each.bbox) and "text" not in each.extra:
            yield from _check_polygons(each, each.bbox, image.name)
        area = each.extra.get("area")
        if area is not None:
            yield from _check_area(each, area, image.name)
        yield from _check_points(each, image.name, size)


def _check_rle(each: AnnotatedObject, rle: Mapping[str, Any], name: str, size: Size | None) -> Iterator[Finding]:
    try:
        height, width = RLEs.from_coco([rle]).sizes[0].tolist()
    except CvzooError as error:
        words = str(error).splitlines()[0]
        yield Finding(Fault.MASK_MALFORMED, f"the run-length encoded mask: {words}", name, each.index)
        return
    if size is not None and (height, width) != size:
        words = f"a mask of {height} x {width} for an image of {size[0]} x {size[1]} (H x W)"
        yield Finding(Fault.MASK_MALFORMED, words, name, each.index)


def _check_polygons(each: AnnotatedObject, bbox: Box, name: str) -> Iterator[Finding]:
    xs = [value for polygon in each.polygons for value in polygon[0::2]]
    ys = [value for polygon in each.polygons for value in polygon[1::2]]
    y_min, x_min, y_max, x_max = bbox
    apart = max(abs(min(ys) - y_min), abs(min(xs) - x_min), abs(max(ys) - y_max), abs(max(xs) - x_max))
    if apart > max(_SLACK, 0.05 * max(y_max - y_min, x_max - x_min)):
        yield Finding(Fault.MASK_OFF_BOX, f"the box around the polygon differs by {apart:.4g} pixels", name, each.index)


def _check_area(each: AnnotatedObject, area: object, name: str) -> Iterator[Finding]:
    if not isinstance(area, (int, float)) or isinstance(area, bool) or not finite((area,)) or area < 0:
        yield Finding(Fault.AREA_WRONG, f"the area is {area!r:.40}", name, each.index)
    elif each.bbox is not None and finite(each.bbox):
        y_min, x_min, y_max, x_max = each.bbox
        # a box extends to the outermost points, while the area counts the pixels that a mask touches
        most = (abs(y_max - y_min) + 2) * (abs(x_max - x_min) + 2)
        if area > most:
            yield Finding(Fault.AREA_WRONG, f"an area of {area:g} in a box of {most:g}", name, each.index)


def _check_points(each: AnnotatedObject, name: str, size: Size | None) -> Iterator[Finding]:
    if not each.points:
        return
    marked = [each.points[i : i + 3] for i in range(0, len(each.points), 3) if each.points[i + 2] != 0]
    wrong = [v for v in each.points[2::3] if v not in (0, 1, 2)]
    if wrong or not finite(each.points):
        yield Finding(
            Fault.POINTS_MALFORMED, "v is neither 0 (unlabeled), 1 (occluded) nor 2 (visible)", name, each.index
        )
        return
    stated = each.extra.get("num_keypoints")
    if stated is not None and stated != len(marked):
        words = f"num_keypoints is {stated}, but {len(marked)} are labeled"
        yield Finding(Fault.POINTS_MALFORMED, words, name, each.index)
    if size is not None and any(not (0 <= x <= size[1] and 0 <= y <= size[0]) for x, y, _ in marked):
        yield Finding(Fault.POINT_OUTSIDE, "a labeled keypoint is outside of the image", name, each.index)
