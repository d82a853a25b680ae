"""Draw boxes, labels and scores on a photo, without a window."""

import numpy as np
from PIL import ImageDraw, ImageFont

from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.images.from_array import from_array
from cvzoo.images.write_image import to_pil
from cvzoo.visualizations.colors import ink_on, label_color


def draw_bbox(img, bbox, label=None, score=None, *, label_names=None, line_width=None, font_size=None):
    """A new photo with the boxes drawn: (3, H, W) float32 RGB of whole numbers in [0, 255]; img is left as it was.

    img: (3, H, W) or (1, H, W) float32 in [0, 255], or any array that `read_image` takes
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels; what sticks out of the photo is cut
    label: (R,) integers, or None: all boxes get one colour
    score: (R,) float, or None; boxes are drawn from the lowest score to the highest, so the best lies on top
    label_names: names of the classes in order of label; without them the numbers are written
    line_width, font_size: pixels; None scales both with the photo
    Raises ShapeError if lengths differ, ValueRangeError for a label without a name, NaN or infinite boxes.
    """
    img = from_array(np.asarray(img), color=True, name="img")
    bbox, label, score = _checked(bbox, label, score, label_names)
    pil = to_pil(img)
    scale = max(pil.size) / 1000
    line_width = max(1, round(2.6 * scale)) if line_width is None else line_width
    font_size = max(9, round(17 * scale)) if font_size is None else font_size
    order = range(len(bbox)) if score is None else np.argsort(score, kind="stable").tolist()
    draw = ImageDraw.Draw(pil)
    font = ImageFont.load_default(font_size)
    for i in order:
        _draw_frame(draw, bbox[i], color=_color(label, i), line_width=line_width)
    taken = []
    for i in reversed(order):
        text = caption(None if label is None else int(label[i]), None if score is None else score[i], label_names)
        if text:
            _draw_plate(draw, bbox[i], text, color=_color(label, i), font=font, taken=taken)
    return np.asarray(pil, dtype=np.float32).transpose(2, 0, 1).copy()


def caption(label, score, label_names):
    """The text on a box: its name or number, then its score with two digits; what is None is left out."""
    parts = []
    if label is not None:
        parts.append(str(label) if label_names is None else str(label_names[label]))
    if score is not None:
        parts.append(f"{score:.2f}")
    return " ".join(parts)


def _draw_frame(draw, bb, *, color, line_width):
    width, height = draw.im.size
    y_min, x_min, y_max, x_max = (float(each) for each in bb)
    # half-open: a box to x_max = 10 ends with pixel 9
    left, top = max(round(x_min), 0), max(round(y_min), 0)
    right, bottom = min(round(x_max), width) - 1, min(round(y_max), height) - 1
    if right < left or bottom < top:
        return
    draw.rectangle((left, top, right, bottom), outline=color, width=line_width)


def _color(label, i):
    return label_color(0 if label is None else int(label[i]))


def _draw_plate(draw, bb, text, *, color, font, taken):
    width, height = draw.im.size
    pad = max(1, round(font.size / 6))
    left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
    plate_w, plate_h = right - left + 2 * pad, bottom - top + 2 * pad
    x = min(max(round(float(bb[1])), 0), max(width - plate_w, 0))
    y = min(max(round(float(bb[0])) - plate_h, 0), max(height - plate_h, 0))
    draw.rectangle((x, y, x + plate_w - 1, y + plate_h - 1), fill=color)
    draw.text((x + pad - left, y + pad - top), text, fill=ink_on(color), font=font)


def _checked(bbox, label, score, label_names):
    bbox = as_bbox(bbox)
    if not np.isfinite(bbox).all():
        raise ValueRangeError("bbox holds NaN or infinite coordinates")
    if label is not None:
        label = np.asarray(label)
        if label.shape != (len(bbox),):
            raise ShapeError("label must have one entry a box", expected=(len(bbox),), got=label.shape)
        n_class = np.inf if label_names is None else len(label_names)
        if len(label) and not (label.min() >= 0 and label.max() < n_class):
            raise ValueRangeError("a label has no name", expected=f"0 .. {n_class - 1}", got=np.unique(label).tolist())
    if score is not None:
        score = np.asarray(score)
        if score.shape != (len(bbox),):
            raise ShapeError("score must have one entry a box", expected=(len(bbox),), got=score.shape)
    return bbox, label, score
