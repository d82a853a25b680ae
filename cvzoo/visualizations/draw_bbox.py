"""Drawing of boxes, labels and scores on an image array."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import ImageDraw

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.images.from_pil import from_pil
from cvzoo.images.write_image import to_pil
from cvzoo.typing.aliases import Array, ArrayLike, Image, LabelNames
from cvzoo.visualizations.colors import RGB, Colors, class_color, ink_on
from cvzoo.visualizations.place_plate import place_plate
from cvzoo.visualizations.text_font import Font, text_font

Frame: TypeAlias = tuple[int, int, int, int]  # left, top, right, bottom, inclusive

# Line width and font size for an image with a long side of 1000 pixels; the minimum font size is legible
_LINE_WIDTH, _FONT_SIZE, _MIN_FONT_SIZE = 2.6, 18, 9
# Label texts that together are larger than this fraction of all boxes are not drawn by default
_MANY, _SHARE = 20, 0.4


class DrawStyle(NamedTuple):
    """How instances are drawn; the fields are arguments of `draw_bbox`."""

    line_width: int | None = None
    colors: Colors | None = None
    show_labels: bool = True
    show_scores: bool = True


def draw_bbox(
    img: ArrayLike,
    bbox: ArrayLike,
    label: ArrayLike | None = None,
    score: ArrayLike | None = None,
    *,
    label_names: LabelNames | None = None,
    line_width: int | None = None,
    font_size: int | None = None,
    plates: bool | None = None,
    colors: Colors | None = None,
    show_labels: bool = True,
    show_scores: bool = True,
) -> Image:
    """A copy of the image with the boxes drawn: (3, H, W) float32 RGB of integers in [0, 255].

    img: (3, H, W) or (1, H, W) float32 in [0, 255], or any array that `read_image` takes
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels; clipped to the image
    label: (R,) non-negative integers, or None: all boxes get one color
    score: (R,) float, or None; boxes are drawn from the lowest score to the highest, so the best is on top
    label_names: class names in order of label; without them the labels themselves are written
    line_width, font_size: pixels; None scales both with the image, and lines of small boxes are thinner
    `plates`: whether label texts are drawn; None: unless there are so many small boxes, as around lines of text, that
        they would hide the image
    colors: of the classes, in order of label or by name, (R, G, B), "red" or "#ff8800"; None: those of `label_color`
    show_labels, show_scores: whether these are in the label texts
    Raises ShapeError if lengths differ, ValueRangeError for a label without a name, NaN or infinite boxes, unknown
    colors or classes.

    The label text is at the upper left corner of the box, or at the next free position in the image; it is black or
    white, whichever has more contrast with the color of the class.
    """
    bbox, label, score = checked_boxes(bbox, label, score, label_names)
    pil = to_pil(np.asarray(img)).convert("RGB")
    scale = max(pil.size) / 1000
    widest = max(round(_LINE_WIDTH * scale), 1) if line_width is None else min(line_width, max(pil.size))
    if font_size is None:
        font_size = max(round(_FONT_SIZE * scale), _MIN_FONT_SIZE)
    worst_first = list(range(len(bbox)))[::-1] if score is None else np.argsort(score, kind="stable").tolist()
    color_of = class_color(colors, label_names)
    chosen = [color_of(0 if label is None else int(label[i])) for i in range(len(bbox))]
    labels = None if label is None or not show_labels else label
    scores = None if score is None or not show_scores else score
    captions = [
        caption(None if labels is None else int(labels[i]), None if scores is None else scores[i], label_names)
        for i in range(len(bbox))
    ]
    draw = ImageDraw.Draw(pil)
    frames = [_frame(bb, pil.size) for bb in bbox]
    for i in worst_first:
        frame = frames[i]
        if frame is not None:
            _draw_frame(draw, frame, chosen[i], widest if line_width is not None else _thinner(widest, frame))
    if plates is None or plates:
        placed = _placed_plates(draw, pil.size, frames, captions, worst_first, font_size)
        if plates or not _hide_too_much(placed, frames):
            _draw_plates(draw, placed, captions, chosen)
    return from_pil(pil, color=True, background=None, name="img")


def caption(label: int | None, score: float | None, label_names: LabelNames | None) -> str:
    """The text of a box: its name or label, and its score with two digits; None is omitted."""
    parts = []
    if label is not None:
        parts.append(str(label) if label_names is None else str(label_names[label]))
    if score is not None:
        parts.append(f"{score:.2f}")
    return " ".join(parts)


def _frame(bb: Array, size: tuple[int, int]) -> Frame | None:
    """The pixels (left, top, right, bottom), all inclusive, that the box covers in the image, or None."""
    width, height = size
    y_min, x_min, y_max, x_max = (float(each) for each in bb)
    # half-open: a box up to 10 ends with pixel 9
    left, right = round(max(x_min, 0)), round(min(x_max, width)) - 1
    top, bottom = round(max(y_min, 0)), round(min(y_max, height)) - 1
    return (left, top, right, bottom) if left <= right and top <= bottom else None


def _thinner(line_width: int, frame: Frame) -> int:
    """The line width, reduced for small boxes, whose contents it would hide."""
    left, top, right, bottom = frame
    return max(min(line_width, (min(right - left, bottom - top) + 1) // 12), 1)


def _draw_frame(draw: ImageDraw.ImageDraw, frame: Frame, color: RGB, line_width: int) -> None:
    left, top, right, bottom = frame
    # a thin dark outline separates the line from a background of the same color
    if line_width >= 2 and min(right - left, bottom - top) > 4 * line_width:
        rim = max(line_width // 3, 1)
        outer = (left - rim, top - rim, right + rim, bottom + rim)
        draw.rectangle(outer, outline=_darker(color), width=line_width + 2 * rim)
    draw.rectangle(frame, outline=color, width=line_width)


def _darker(color: RGB) -> RGB:
    red, green, blue = color
    return red // 3, green // 3, blue // 3


class _Plate(NamedTuple):
    """The position of the caption of box i."""

    x: int
    y: int
    width: int
    height: int
    i: int
    font: Font
    offset: tuple[float, float]


def _placed_plates(
    draw: ImageDraw.ImageDraw,
    size: tuple[int, int],
    frames: Sequence[Frame | None],
    captions: Sequence[str],
    worst_first: Sequence[int],
    font_size: int,
) -> list[_Plate]:
    """Label texts in the order in which they were placed: the highest scores first."""
    fonts: dict[int, Font] = {}
    plates: list[_Plate] = []
    for i in reversed(worst_first):
        frame = frames[i]
        if frame is None or not captions[i]:
            continue
        font, plate_size, offset = _fitting(draw, captions, i, font_size, size, fonts)
        corner = place_plate(frame, plate_size, size, [plate[:4] for plate in plates])
        plates.append(_Plate(corner[0], corner[1], plate_size[0], plate_size[1], i, font, offset))
    return plates


def _hide_too_much(plates: Sequence[_Plate], frames: Sequence[Frame | None]) -> bool:
    if len(plates) < _MANY:
        return False
    boxes = [(right - left + 1) * (bottom - top + 1) for left, top, right, bottom in filter(None, frames)]
    return sum(plate.width * plate.height for plate in plates) > _SHARE * sum(boxes)


def _draw_plates(
    draw: ImageDraw.ImageDraw, plates: Sequence[_Plate], captions: Sequence[str], colors: Sequence[RGB]
) -> None:
    for plate in reversed(plates):  # the highest scores are drawn last, on top
        color = colors[plate.i]
        corner = plate.x + plate.width - 1, plate.y + plate.height - 1
        draw.rectangle((plate.x, plate.y, *corner), fill=color)
        at = plate.x + plate.offset[0], plate.y + plate.offset[1]
        draw.text(at, captions[plate.i], fill=ink_on(color), font=plate.font)


def _fitting(
    draw: ImageDraw.ImageDraw,
    captions: Sequence[str],
    i: int,
    font_size: int,
    size: tuple[int, int],
    fonts: dict[int, Font],
) -> tuple[Font, tuple[int, int], tuple[float, float]]:
    """The largest font up to font_size with which caption i fits the image's width; its plate's size, its offset."""
    while True:
        if font_size not in fonts:
            fonts[font_size] = text_font(font_size, captions)
        font = fonts[font_size]
        pad = max(round(font_size / 6), 1)
        left, _, right, _ = draw.textbbox((0, 0), captions[i], font=font)
        # one height for all captions of the image; accents on capitals are higher than any letter of ASCII
        highest = "Ag|" if all(map(str.isascii, captions)) else "ÅÉg|"
        _, top, _, bottom = draw.textbbox((0, 0), highest, font=font)
        plate_size = right - left + 2 * pad, bottom - top + 2 * pad
        if plate_size[0] <= size[0] or font_size <= _MIN_FONT_SIZE // 2:
            return font, (round(plate_size[0]), round(plate_size[1])), (pad - left, pad - top)
        font_size -= 1


def checked_boxes(
    bbox: npt.ArrayLike, label: npt.ArrayLike | None, score: npt.ArrayLike | None, label_names: Sequence[str] | None
) -> tuple[Array, Array | None, Array | None]:
    """The arguments as arrays. Raises ShapeError and ValueRangeError as `draw_bbox`."""
    bbox = as_bbox(bbox)
    if not np.isfinite(bbox).all():
        raise ValueRangeError("bbox holds NaN or infinite coordinates")
    if label is not None:
        label = np.asarray(label)
        if label.shape != (len(bbox),):
            raise ShapeError("label must have one value per box", expected=(len(bbox),), got=label.shape)
        if len(label) and label.min() < 0:
            raise ValueRangeError("a label is negative", got=label.min())
        if len(label) and label_names is not None and label.max() >= len(label_names):
            raise ValueRangeError("a label has no name", expected=f"0 .. {len(label_names) - 1}", got=label.max())
    if score is not None:
        score = np.asarray(score)
        if score.shape != (len(bbox),):
            raise ShapeError("score must have one value per box", expected=(len(bbox),), got=score.shape)
    return bbox, label, score
