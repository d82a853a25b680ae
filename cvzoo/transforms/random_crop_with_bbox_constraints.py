"""SSD's crop: a window that overlaps with the objects as much as a drawn constraint asks for."""

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng

# lowest and highest overlap (IoU) of the window with the boxes; None asks for nothing
CONSTRAINTS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


def random_crop_with_bbox_constraints(
    img,
    bbox,
    *,
    min_scale=0.3,
    max_scale=1,
    max_aspect_ratio=2,
    constraints=None,
    max_trial=50,
    return_param=False,
    rng=None,
):
    """A window of the photo whose overlap with every box obeys one of the constraints, drawn anew; a new array.

    img: (C, H, W), any dtype
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    min_scale, max_scale: the side of the window over that of the photo, before its proportions
    max_aspect_ratio: of width to height relative to the photo's, and its inverse
    constraints: pairs of the lowest and the highest IoU with any box; None are SSD's
    max_trial: windows drawn for a constraint before it is given up
    rng: where to draw from; None is this thread's generator
    Returns (C, H', W'); with return_param also a dictionary of constraint (None for the whole photo), scale,
    aspect_ratio (width to height relative to the photo's), y_slice and x_slice: the boxes follow by
    `crop_bbox(..., allow_outside_center=False)`.
    Raises ShapeError if img is not (C, H, W) or bbox not (R, 4).

    Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 2.2, with the numbers of its Caffe code.
    Where we differ: constraints are tried in random order until one finds a window, instead of all before one is
    chosen; the result is distributed alike.
    """
    img = as_img(img)
    param = draw_constrained_window(
        img.shape[1:], bbox, (min_scale, max_scale), max_aspect_ratio, constraints, max_trial, as_rng(rng)
    )
    cropped = img[:, param["y_slice"], param["x_slice"]].copy("K")
    return (cropped, param) if return_param else cropped


def draw_constrained_window(in_size, bbox, scale_range, max_aspect_ratio, constraints, max_trial, rng):
    """A dictionary of constraint, scale, aspect_ratio, y_slice and x_slice."""
    bbox = as_bbox(bbox)
    constraints = CONSTRAINTS if constraints is None else constraints
    height, width = in_size
    if len(bbox):
        areas = (bbox[:, 2] - bbox[:, 0]) * (bbox[:, 3] - bbox[:, 1])
        # one more, the whole photo, always fits
        for index in rng.permutation(len(constraints) + 1):
            if index == len(constraints):
                break
            low, high = constraints[index]
            if low is not None and areas.min() < low * low * areas.max() * (1 - 1e-4):
                # a window that overlaps so much with the largest box is too large for the smallest one
                continue
            free = (low is None or low <= 0) and (high is None or high >= 1)
            windows, scale, aspect_ratio = _draw_windows(
                in_size, scale_range, max_aspect_ratio, 1 if free else max_trial, rng
            )
            first = 0 if free else _first_fit(windows, bbox, areas, low, high)
            if first is not None:
                top, left, bottom, right = (int(each) for each in windows[first])
                return {
                    "constraint": constraints[index],
                    "scale": float(scale[first]),
                    "aspect_ratio": float(aspect_ratio[first]),
                    "y_slice": slice(top, bottom),
                    "x_slice": slice(left, right),
                }
    whole = {"y_slice": slice(0, height), "x_slice": slice(0, width)}
    return {"constraint": None, "scale": 1.0, "aspect_ratio": 1.0, **whole}


def _draw_windows(in_size, scale_range, max_aspect_ratio, n, rng):
    """(n, 4) float32 windows of whole pixels, at least one pixel a side; their scales and proportions, (n,) float64."""
    draws = rng.random((4, n))
    scale = scale_range[0] + draws[0] * (scale_range[1] - scale_range[0])
    # within these proportions neither side passes the photo's
    low = np.maximum(1 / max_aspect_ratio, scale * scale)
    high = np.minimum(max_aspect_ratio, 1 / (scale * scale))
    aspect_ratio = low + draws[1] * (high - low)
    root = np.sqrt(aspect_ratio)
    windows = np.empty((n, 4), np.float32)
    for axis, factor in ((0, scale / root), (1, scale * root)):
        side = np.clip((in_size[axis] * factor).astype(np.int64), 1, in_size[axis])
        start = (draws[2 + axis] * (in_size[axis] - side + 1)).astype(np.int64)
        windows[:, axis], windows[:, axis + 2] = start, start + side
    return windows, scale, aspect_ratio


def _first_fit(windows, bbox, areas, low, high):
    """The first window whose overlap with every box obeys, or None."""
    # as `bbox_iou`, without its checks, which would take longer than these few numbers do
    sides = np.minimum(windows[:, None, 2:], bbox[:, 2:]) - np.maximum(windows[:, None, :2], bbox[:, :2])
    np.maximum(sides, 0, out=sides)
    inter = sides[..., 0] * sides[..., 1]
    own = (windows[:, 2] - windows[:, 0]) * (windows[:, 3] - windows[:, 1])
    iou = inter / (own[:, None] + areas - inter)
    fits = np.ones(len(windows), bool)
    if low is not None:
        fits &= iou.min(axis=1) >= low
    if high is not None:
        fits &= iou.max(axis=1) <= high
    first = int(fits.argmax())
    return first if fits[first] else None
