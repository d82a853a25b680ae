"""SSD's random crop: a window that satisfies a random constraint on its IoU with the objects."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from cvzoo.geometry.as_bbox import as_bbox
from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.typing.aliases import Array, ArrayLike, BBox, Image

Constraint: TypeAlias = tuple[float | None, float | None]

# lowest and highest IoU of the window with the boxes; None is no limit
CONSTRAINTS: Sequence[Constraint] = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


@overload
def random_crop_with_bbox_constraints(
    img: Image,
    bbox: ArrayLike,
    min_scale: float = ...,
    max_scale: float = ...,
    max_aspect_ratio: float = ...,
    constraints: Sequence[Constraint] | None = ...,
    max_trial: int = ...,
    return_param: Literal[False] = False,
    *,
    rng: np.random.Generator | None = ...,
) -> Image: ...
@overload
def random_crop_with_bbox_constraints(
    img: Image,
    bbox: ArrayLike,
    min_scale: float = ...,
    max_scale: float = ...,
    max_aspect_ratio: float = ...,
    constraints: Sequence[Constraint] | None = ...,
    max_trial: int = ...,
    *,
    return_param: Literal[True],
    rng: np.random.Generator | None = ...,
) -> tuple[Image, dict[str, Any]]: ...
def random_crop_with_bbox_constraints(
    img: Image,
    bbox: ArrayLike,
    min_scale: float = 0.3,
    max_scale: float = 1,
    max_aspect_ratio: float = 2,
    constraints: Sequence[Constraint] | None = None,
    max_trial: int = 50,
    return_param: bool = False,
    *,
    rng: np.random.Generator | None = None,
) -> Image | tuple[Image, dict[str, Any]]:
    """A random window of the image whose IoU with every box satisfies a random one of the constraints; a new array.

    img: (C, H, W), any dtype
    bbox: (R, 4) float32, y_min x_min y_max x_max, pixels
    min_scale, max_scale: side of the window over that of the image, before the aspect ratio is applied
    max_aspect_ratio: limit of width over height relative to the image's, and of its inverse
    constraints: pairs of the lowest and the highest IoU with any box; None are SSD's
    max_trial: number of windows tried for a constraint
    rng: random generator; None is this thread's
    Returns (C, H', W'); with return_param, also a dictionary of constraint (None for the whole image), scale,
    aspect_ratio (width over height relative to the image's), y_slice and x_slice: transform the boxes by
    `crop_bbox(..., allow_outside_center=False)`.
    Raises ShapeError if img is not (C, H, W) or bbox not (R, 4).

    Source: Liu et al., "SSD: Single Shot MultiBox Detector", 2016, section 2.2, with the constants of its Caffe code.
    Where we differ: constraints are tried in random order until one has a window, instead of all before one is chosen;
    the distribution of the result is the same.
    """
    img = as_img(img)
    param = draw_constrained_window(
        img.shape[1:], bbox, (min_scale, max_scale), max_aspect_ratio, constraints, max_trial, as_rng(rng)
    )
    cropped = img[:, param["y_slice"], param["x_slice"]].copy("K")
    return (cropped, param) if return_param else cropped


def draw_constrained_window(
    in_size: Sequence[int],
    bbox: ArrayLike,
    scale_range: tuple[float, float],
    max_aspect_ratio: float,
    constraints: Sequence[Constraint] | None,
    max_trial: int,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Random parameters of the crop: a dictionary of constraint, scale, aspect_ratio, y_slice and x_slice."""
    bbox = as_bbox(bbox)
    constraints = CONSTRAINTS if constraints is None else constraints
    height, width = in_size
    if len(bbox):
        areas = (bbox[:, 2] - bbox[:, 0]) * (bbox[:, 3] - bbox[:, 1])
        # the last index is the whole image, which always fits
        for index in rng.permutation(len(constraints) + 1):
            if index == len(constraints):
                break
            low, high = constraints[index]
            if low is not None and areas.min() < low * low * areas.max() * (1 - 1e-4):
                # a window with an IoU of low with the largest box is too large for that IoU with the smallest one
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


def _draw_windows(
    in_size: Sequence[int], scale_range: tuple[float, float], max_aspect_ratio: float, n: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """(n, 4) float32 windows of whole pixels, at least 1 by 1; their scales and aspect ratios, (n,) float64."""
    draws = rng.random((4, n))
    scale = scale_range[0] + draws[0] * (scale_range[1] - scale_range[0])
    # within these aspect ratios neither side exceeds the image's
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


def _first_fit(windows: Array, bbox: BBox, areas: Array, low: float | None, high: float | None) -> int | None:
    """The first window whose IoU with every box is within the limits, or None."""
    # as `bbox_iou` without its argument checks, which would take longer than the arithmetic
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
