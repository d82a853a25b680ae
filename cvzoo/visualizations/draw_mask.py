"""Drawing of instance masks and label maps on an image array."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.geometry.rle import RLEs
from cvzoo.images.from_pil import from_array
from cvzoo.typing.aliases import Array, ArrayLike, Image, LabelNames
from cvzoo.visualizations.colors import Colors, class_color


def draw_mask(
    img: ArrayLike,
    mask: ArrayLike | RLEs,
    label: ArrayLike | None = None,
    *,
    opacity: float = 0.5,
    colors: Colors | None = None,
    label_names: LabelNames | None = None,
) -> Image:
    """A new image with each mask tinted: (3, H, W) float32 of integers in [0, 255].

    img: (3, H, W) or (1, H, W) in [0, 255], or any array that `read_image` takes
    mask: (R, H, W) bool, or RLEs of R such masks, of which one at a time is decoded; later masks are on top
    label: (R,) non-negative integers, which determine the colors; None: the index does
    opacity: of the tint, 0 (transparent) to 1 (opaque)
    colors: as for `draw_bbox`; label_names: of the classes, for colors by name
    Raises ShapeError if the sizes do not match, ValueRangeError for unknown colors or classes.
    """
    out = from_array(np.asarray(img), color=True, name="img")
    masks = mask if isinstance(mask, RLEs) else np.asarray(mask)
    if isinstance(masks, RLEs):
        fits, got = bool((masks.sizes == out.shape[1:]).all()), tuple(masks.sizes[:1].ravel().tolist())
    else:
        fits, got = masks.ndim == 3 and masks.shape[1:] == out.shape[1:], masks.shape
    if not fits:
        raise ShapeError("mask must be (R, H, W) of the image's size", expected=("R", *out.shape[1:]), got=got)
    labels = range(len(masks)) if label is None else np.asarray(label).tolist()
    if len(labels) != len(masks):
        raise ShapeError("label must have one value per mask", expected=(len(masks),), got=(len(labels),))
    color_of = class_color(colors, label_names)
    for r, each in enumerate(labels):
        one = masks[r].to_masks()[0] if isinstance(masks, RLEs) else masks[r].astype(bool)
        out[:, one] = _tinted(out[:, one], np.array(color_of(each), dtype=np.float32)[:, None], opacity)
    return np.rint(out).clip(0, 255)


def draw_label_map(
    img: ArrayLike,
    label: ArrayLike,
    *,
    opacity: float = 0.5,
    colors: Colors | None = None,
    label_names: LabelNames | None = None,
) -> Image:
    """A new image with each pixel tinted in the color of its class; pixels of -1 (ignore) are unchanged.

    img, opacity, colors, label_names: as for `draw_mask`
    label: (H, W) int32, -1 or a class
    Raises ShapeError if the sizes do not match.
    """
    out = from_array(np.asarray(img), color=True, name="img")
    label = np.asarray(label)
    if label.shape != out.shape[1:]:
        raise ShapeError("label must be (H, W) of the image's size", expected=out.shape[1:], got=label.shape)
    known = label >= 0
    if known.any():
        color_of = class_color(colors, label_names)
        palette = np.array([color_of(each) for each in range(int(label.max()) + 1)], dtype=np.float32)
        out[:, known] = _tinted(out[:, known], palette[label[known]].T, opacity)
    return np.rint(out).clip(0, 255)


def _tinted(pixels: Array, color: Array, opacity: float) -> Array:
    return pixels * np.float32(1 - opacity) + color * np.float32(opacity)
