"""Finds faults of single bounding boxes."""

from collections.abc import Collection, Iterable, Iterator

from cvzoo.datasets.doctor.fault import Fault
from cvzoo.datasets.doctor.finding import Finding
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage, AnnotatedObject, Box
from cvzoo.datasets.layouts.decimals import finite, number_text
from cvzoo.typing.aliases import Size

_SLACK = 0.51  # pixels, the error of rounding to integers
_UPRIGHT = 3  # height / width beyond which a region is implausible for a text of several letters


def check_boxes(
    image: AnnotatedImage,
    size: tuple[int, int] | None,
    *,
    last_pixel: int,
    skip_outside: bool,
    ignore: Collection[Fault],
) -> Iterator[Finding]:
    """The faults of the image's boxes.

    size: (H, W) that they refer to; last_pixel: 1 if the end of a box is its last pixel, 0 if it is the one after it
    skip_outside: a finding about all boxes of the image explains boxes outside of it
    ignore: kinds of findings about the whole data set, which explain those of single boxes
    """
    earlier: dict[Box, list[tuple[str | None, int]]] = {}
    for each in image.objects:
        if each.bbox is None:
            if each.written and not finite(each.written):
                yield Finding(Fault.BOX_NOT_FINITE, f"({_numbers(each.written)})", image.name, each.index)
            continue
        if not finite(each.bbox):
            yield Finding(Fault.BOX_NOT_FINITE, f"({_numbers(each.written)})", image.name, each.index)
            continue
        y_min, x_min, y_max, x_max = each.bbox
        height, width = y_max - y_min, x_max - x_min
        if height < 0 or width < 0:
            yield Finding(Fault.BOX_NEGATIVE, f"({_numbers(each.written)})", image.name, each.index)
        elif height == 0 or width == 0:
            yield Finding(Fault.BOX_EMPTY, f"({_numbers(each.written)}) has no area", image.name, each.index)
        elif not skip_outside:
            if min(height, width) < 1:
                yield Finding(
                    Fault.BOX_SLIVER, f"{number_text(height)} x {number_text(width)} pixels", image.name, each.index
                )
            elif size is not None:
                yield from _check_position(each, each.bbox, image, size, last_pixel, ignore)
            if "text" in each.extra:
                yield from _check_text(each, height, width, image.name)
        for name, index in earlier.get(each.bbox, ()):
            kind = Fault.BOX_DUPLICATE if name == each.name else Fault.BOX_CONFLICT
            others = f"{name} and {each.name}" if name != each.name else f"{name}"
            yield Finding(kind, f"the same box as object {index}, {others}", image.name, each.index)
            break
        earlier.setdefault(each.bbox, []).append((each.name, each.index))


def _check_position(
    each: AnnotatedObject, bbox: Box, image: AnnotatedImage, size: Size, last_pixel: int, ignore: Collection[Fault]
) -> Iterator[Finding]:
    y_min, x_min, y_max, x_max = bbox
    height, width = size[0] - last_pixel, size[1] - last_pixel
    is_beyond = y_min >= height or x_min >= width or y_max <= 0 or x_max <= 0
    over = max(-y_min, -x_min, y_max - height, x_max - width)
    explained = over <= 1 and (Fault.ONE_BASED in ignore or Fault.ZERO_BASED in ignore)
    if not is_beyond and (over <= _SLACK or explained):
        return
    words = f"({_numbers(each.written)}) in an image of {size[0]} x {size[1]} (H x W)"
    if is_beyond:
        yield Finding(Fault.BOX_BEYOND, words, image.name, each.index)
    else:
        yield Finding(Fault.BOX_OUTSIDE, f"{words}, by {over:.4g} pixels", image.name, each.index)


def _check_text(each: AnnotatedObject, height: float, width: float, name: str) -> Iterator[Finding]:
    text = str(each.extra["text"]).strip()
    if not text:
        yield Finding(Fault.TEXT_EMPTY, "the region has no text", name, each.index)
    elif len(text) > 3 and height > _UPRIGHT * width:
        yield Finding(Fault.TEXT_UPRIGHT, f"{height:.4g} high, {width:.4g} wide for {text!r:.40}", name, each.index)
    corners = each.polygons[0] if each.polygons else ()
    if len(corners) != 8:  # a region without a quadrilateral, of a layout that has boxes
        return
    xs, ys = corners[0::2], corners[1::2]
    # the shoelace formula: the halves of a crossed quadrilateral cancel out, and the wrong direction is negative
    area = sum(xs[i] * ys[(i + 1) % 4] - xs[(i + 1) % 4] * ys[i] for i in range(4)) / 2
    if area < 0.5 * height * width:
        yield Finding(Fault.QUAD_CROSSED, f"({_numbers(corners)})", name, each.index)


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(number_text(float(value)) for value in values)
