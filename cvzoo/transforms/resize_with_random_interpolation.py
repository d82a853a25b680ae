"""Resize a photo in one of five ways, so that a network gets used to all."""

from cvzoo.transforms.as_img import as_img
from cvzoo.transforms.as_rng import as_rng
from cvzoo.transforms.resize import Backend, resize

INTERPOLATIONS = ("bilinear", "box", "nearest", "bicubic", "lanczos")


def resize_with_random_interpolation(img, size, *, backend: Backend = "pillow", return_param=False, rng=None):
    """The photo in another size, the interpolation drawn from the five of `resize`; a new array.

    img: (C, H, W), any real dtype
    size: (H, W) to come
    backend: as in `resize`
    rng: where to draw from; None is this thread's generator
    Returns (C, *size) of the dtype that `resize` gives; with return_param also a dictionary of interpolation.
    Raises ShapeError if img is not (C, H, W) or size no pair.
    """
    img = as_img(img)
    param = draw_interpolation(as_rng(rng))
    resized = resize(img, size, interpolation=param["interpolation"], backend=backend)
    return (resized, param) if return_param else resized


def draw_interpolation(rng):
    """A dictionary of interpolation."""
    return {"interpolation": INTERPOLATIONS[int(rng.integers(len(INTERPOLATIONS)))]}
