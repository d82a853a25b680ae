"""Put a photo somewhere on a larger canvas: small objects for a detector."""

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.crop import crop


def random_expand(img, *, max_ratio=4, fill=0, return_param=False, rng=None):
    """The photo at a random place of a canvas up to max_ratio times as high and as wide; a new array.

    img: (C, H, W), any dtype
    fill: the canvas, one number or one a channel; SSD takes the mean of its training photos
    rng: where to draw from; None is this thread's generator
    Returns (C, H', W') of the same dtype; with return_param also a dictionary of ratio, y_offset and x_offset (pixels
    that the photo, and so its boxes, moved).
    Raises ShapeError if img is not (C, H, W), ValueRangeError if max_ratio is below 1.

    Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 3.6.
    """
    img = as_img(img)
    param = draw_canvas(img.shape[1:], max_ratio, as_rng(rng))
    expanded = crop(img, **canvas_window(img.shape[1:], param), fill=fill)
    return (expanded, param) if return_param else expanded


def draw_canvas(in_size, max_ratio, rng):
    """A dictionary of ratio, y_offset and x_offset."""
    if not max_ratio >= 1:
        raise ValueRangeError("max_ratio must be at least 1", got=max_ratio)
    ratio = float(rng.uniform(1, max_ratio))
    height, width = (int(side * ratio) for side in in_size)
    return {
        "ratio": ratio,
        "y_offset": int(rng.integers(height - in_size[0] + 1)),
        "x_offset": int(rng.integers(width - in_size[1] + 1)),
    }


def canvas_window(in_size, param):
    """The canvas as a window around the photo: a dictionary of y_slice and x_slice."""
    y, x = param["y_offset"], param["x_offset"]
    height, width = (int(side * param["ratio"]) for side in in_size)
    return {"y_slice": slice(-y, height - y), "x_slice": slice(-x, width - x)}
