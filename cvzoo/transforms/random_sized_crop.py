"""Cut out a window of random size and proportions, as classifiers are trained."""

import math

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.random_crop import draw_window

_N_TRIAL = 10


def random_sized_crop(
    img, *, scale_ratio_range=(0.08, 1), aspect_ratio_range=(3 / 4, 4 / 3), return_param=False, rng=None
):
    """A window of random area and proportions at a random place; a new contiguous array.

    img: (C, H, W), any dtype
    scale_ratio_range: the area of the window over that of the photo
    aspect_ratio_range: height over width of the window, or width over height by the toss of a coin
    rng: where to draw from; None is this thread's generator
    Returns (C, H', W'); with return_param also a dictionary of y_slice, x_slice, scale_ratio and aspect_ratio (height
    over width). After ten draws that do not fit into the photo the last proportions are kept and the area is drawn
    from what fits, perhaps below its range.
    Raises ShapeError if img is not (C, H, W), ValueRangeError if a range is not positive and ascending.

    Source: Szegedy et al., "Going Deeper with Convolutions", 2015, section 6; what is drawn is
    what ChainerCV's function of this name draws.
    """
    img = as_img(img)
    param = draw_sized_window(img.shape[1:], scale_ratio_range, aspect_ratio_range, as_rng(rng))
    cropped = img[:, param["y_slice"], param["x_slice"]].copy()
    return (cropped, param) if return_param else cropped


def draw_sized_window(in_size, scale_ratio_range, aspect_ratio_range, rng):
    """A dictionary of y_slice, x_slice, scale_ratio and aspect_ratio."""
    for name, (low, high) in (("scale_ratio_range", scale_ratio_range), ("aspect_ratio_range", aspect_ratio_range)):
        if not 0 < low <= high:
            raise ValueRangeError(f"{name} must be positive and ascending", got=(low, high))
    height, width = in_size
    for _ in range(_N_TRIAL):
        scale_ratio = rng.uniform(*scale_ratio_range)
        aspect_ratio = rng.uniform(*aspect_ratio_range)
        # half of the proportions lie on either side whatever the range
        if rng.random() < 0.5:
            aspect_ratio = 1 / aspect_ratio
        new_h, new_w = _sides(in_size, scale_ratio, aspect_ratio)
        if 0 < new_h <= height and 0 < new_w <= width:
            break
    else:
        most = min(height / (width * aspect_ratio), width * aspect_ratio / height, scale_ratio_range[1])
        scale_ratio = rng.uniform(min(scale_ratio_range[0], most), most)
        new_h, new_w = _sides(in_size, scale_ratio, aspect_ratio)
        new_h, new_w = min(max(new_h, 1), height), min(max(new_w, 1), width)
    window = draw_window(in_size, (new_h, new_w), rng)
    return {**window, "scale_ratio": float(scale_ratio), "aspect_ratio": float(aspect_ratio)}


def _sides(in_size, scale_ratio, aspect_ratio):
    area = scale_ratio * in_size[0] * in_size[1]
    return int(math.sqrt(area * aspect_ratio)), int(math.sqrt(area / aspect_ratio))
